// SPDX-License-Identifier: Apache-2.0
// Qwen3, dense: queries and keys are normalized head by head. With use_sliding_window, layers from
// max_window_layers on slide (transformers, Qwen3Config; defaults 4096, 28 and head_dim 128).
#include "model/input/table_reader.hpp"
#include "model/workload/architecture/dense.hpp"
#include "model/workload/architecture/family.hpp"

namespace floorline {

namespace {

constexpr std::int64_t kDefaultHeadDim = 128;
constexpr std::int64_t kDefaultWindow = 4096;
constexpr std::int64_t kDefaultFullLayers = 28;

std::int64_t read_full_layers(TableReader& config, Architecture& architecture) {
  const std::optional<std::int64_t> given = config.count("max_window_layers");
  if (!given && !config.has("max_window_layers")) {
    architecture.assumptions.emplace_back(
        "max_window_layers = 28 (not given: the default of qwen3)");
  }
  return given.value_or(kDefaultFullLayers);
}

}  // namespace

Architecture read_qwen3(TableReader& config) {
  DenseConfig dense =
      read_dense(config, {.family = "qwen3", .qk_norm = true, .head_dim = kDefaultHeadDim});
  std::vector<std::int64_t> windows(static_cast<std::size_t>(dense.layer_count), 0);
  std::int64_t window = 0;
  if (config.flag("use_sliding_window").value_or(false)) {
    window = read_window(config, kDefaultWindow, dense.architecture);
    const std::int64_t full = read_full_layers(config, dense.architecture);
    for (std::int64_t i = full; i < dense.layer_count; ++i) {
      windows[static_cast<std::size_t>(i)] = window;
    }
  } else {
    config.node("sliding_window");
    config.node("max_window_layers");
  }
  const auto stated = read_layer_types(config, dense.layer_count, window);
  return finish_dense(std::move(dense), stated ? *stated : windows);
}

}  // namespace floorline
