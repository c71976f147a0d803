// SPDX-License-Identifier: Apache-2.0
// Phi-3 and Phi-4 (transformers, Phi3Config). q, k and v are one matrix in the checkpoint, gate and
// up another; their sizes are those of the parts, which are listed. A window slides in every layer.
#include "model/input/table_reader.hpp"
#include "model/workload/architecture/dense.hpp"
#include "model/workload/architecture/family.hpp"

namespace floorline {

Architecture read_phi3(TableReader& config) {
  DenseConfig dense =
      read_dense(config, {.family = "phi3", .kv_heads_required = false, .partial_rotary = true});
  expect_flag(config, "lm_head_bias", false);
  pass_over(config, {"original_max_position_embeddings", "embd_pdrop", "resid_pdrop",
                     "full_attn_mod", "interpolate_factor"});
  const std::int64_t window = read_size_or(config, "sliding_window", kMostPositions, 0);
  const std::vector<std::int64_t> windows = same_window(dense, window);
  return finish_dense(std::move(dense), windows);
}

}  // namespace floorline
