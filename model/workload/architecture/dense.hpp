// SPDX-License-Identifier: Apache-2.0
// What dense decoder families share: sizes with their checks, storage precision, the weights of
// attention with grouped KV heads and of a gated MLP. Internal to the readers of families.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/workload/architecture.hpp"

namespace floorline {

class TableReader;

/// In what a family differs from the others when a key is not given.
struct DenseDefaults {
  const char* family = "";
  bool qk_norm = false;
  bool kv_heads_required = true;  ///< false: as many as query heads
  std::int64_t head_dim = 0;      ///< 0: hidden_size / num_attention_heads
};

struct DenseConfig {
  Architecture architecture;  ///< without layers and weights
  std::int64_t layer_count = 0;
  LayerGroup layer;  ///< shape of every layer; count and window are still open
};

DenseConfig read_dense(TableReader& config, const DenseDefaults& defaults);

/// A whole number from 1 to `most`; 0 after an error.
std::int64_t read_size(TableReader& config, const char* key, std::int64_t most);
/// The flag, or `fallback` with an assumption that says so.
bool read_flag(TableReader& config, const char* key, bool fallback, Architecture& architecture);

/// The window of a family that slides in every layer from `first_layer` on; `fallback` is what the
/// family takes when the key is absent, null means none.
std::int64_t read_window(TableReader& config, std::int64_t fallback, Architecture& architecture);
/// One window a layer (0: none) as `layer_types` says; absent when the file has no such key.
std::optional<std::vector<std::int64_t>> read_layer_types(TableReader& config,
                                                          std::int64_t layer_count,
                                                          std::int64_t window);

/// Layers with equal windows become groups; adds all weights.
Architecture finish_dense(DenseConfig config, const std::vector<std::int64_t>& windows);

}  // namespace floorline
