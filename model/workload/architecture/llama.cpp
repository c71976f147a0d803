// SPDX-License-Identifier: Apache-2.0
// Llama and Mistral. Mistral's window slides in every layer; a configuration without the key has
// one of 4096, the default of the format (transformers, MistralConfig), and null means none.
#include "model/input/table_reader.hpp"
#include "model/workload/architecture/dense.hpp"
#include "model/workload/architecture/family.hpp"

namespace floorline {

Architecture read_llama(TableReader& config) {
  DenseConfig dense = read_dense(config, {.family = "llama", .kv_heads_required = false});
  const std::vector<std::int64_t> windows = same_window(dense, 0);
  return finish_dense(std::move(dense), windows);
}

Architecture read_mistral(TableReader& config) {
  constexpr std::int64_t kDefaultWindow = 4096;
  DenseConfig dense = read_dense(config, {.family = "mistral"});
  const bool slides = config.flag("use_sliding_window").value_or(true);
  if (!slides) config.node("sliding_window");
  const std::int64_t window = slides ? read_window(config, kDefaultWindow, dense.architecture) : 0;
  const auto stated = read_layer_types(config, dense.layer_count, window);
  const std::vector<std::int64_t> windows = stated ? *stated : same_window(dense, window);
  return finish_dense(std::move(dense), windows);
}

}  // namespace floorline
