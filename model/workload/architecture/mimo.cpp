// SPDX-License-Identifier: Apache-2.0
// MiMo: Qwen2 with modules of multi-token prediction, each a layer of the same shape (MiMo report,
// arXiv 2505.07608, §2; modeling_mimo.py of the published checkpoint).
#include "model/input/table_reader.hpp"
#include "model/workload/architecture/dense.hpp"
#include "model/workload/architecture/family.hpp"
#include "model/workload/architecture/weight_list.hpp"

namespace floorline {

Architecture read_mimo(TableReader& config) {
  DenseConfig dense = read_dense(config, {.family = "mimo", .bias = AttentionBias::qkv});
  expect_flag(config, "use_mrope", false);
  constexpr std::int64_t kMostModules = 64;
  const std::int64_t modules = read_size_or(config, "num_nextn_predict_layers", kMostModules, 0);
  const LayerGroup layer = dense.layer;
  const std::vector<std::int64_t> windows = read_qwen_windows(config, dense);
  Architecture architecture = finish_dense(std::move(dense), windows);
  add_draft_weights(architecture, layer, modules);
  return architecture;
}

}  // namespace floorline
