// SPDX-License-Identifier: Apache-2.0
// Nemotron, dense (Nemotron-4, Minitron; transformers, NemotronConfig): LayerNorm with scale and
// shift, a squared-ReLU MLP without gate, half of each head turns.
#include "model/input/table_reader.hpp"
#include "model/workload/architecture/dense.hpp"
#include "model/workload/architecture/family.hpp"

namespace floorline {

Architecture read_nemotron(TableReader& config) {
  DenseConfig dense = read_dense(config, {.family = "nemotron",
                                          .kv_heads_required = false,
                                          .gated = false,
                                          .activation = Activation::relu2,
                                          .partial_rotary = true,
                                          .rotary = 0.5,
                                          .norm = NormKind::layernorm});
  pass_over(config, {"norm_eps", "rope_percent"});
  const std::vector<std::int64_t> windows = same_window(dense, 0);
  return finish_dense(std::move(dense), windows);
}

}  // namespace floorline
