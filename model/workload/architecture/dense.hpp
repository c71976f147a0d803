// SPDX-License-Identifier: Apache-2.0
// What decoder families share: sizes with their checks, storage precision, windows and kinds of
// layers. Internal to the readers of families.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "model/workload/architecture.hpp"

namespace floorline {

class TableReader;

/// Biases of attention: as `attention_bias` says, or always those of q, k and v.
enum class AttentionBias : std::uint8_t { stated, qkv };

/// In what a family differs from the others, and what it takes when a key is not given.
struct DenseDefaults {
  const char* family = "";
  QkNorm qk_norm = QkNorm::none;
  bool kv_heads_required = true;  ///< false: as many as query heads
  std::int64_t head_dim = 0;      ///< 0: hidden_size / num_attention_heads
  AttentionBias bias = AttentionBias::stated;
  bool tied = false;
  bool heads = true;  ///< false: latent attention, the family reads its shape
  bool mlp = true;    ///< false: no intermediate_size
  bool gated = true;  ///< of the MLP
  const char* activation_key = "hidden_act";
  Activation activation = Activation::silu;
  bool partial_rotary = false;  ///< partial_rotary_factor is understood
  double rotary = 1;            ///< its default
  NormKind norm = NormKind::rmsnorm;
};

struct DenseConfig {
  Architecture architecture;  ///< without layers and weights
  std::int64_t layer_count = 0;
  LayerGroup layer;  ///< shape of every layer; count and window are still open
};

// Larger than any model; with them every size of one weight stays within 63 bits.
inline constexpr std::int64_t kMostHidden = std::int64_t{1} << 20U;
inline constexpr std::int64_t kMostIntermediate = std::int64_t{1} << 24U;
inline constexpr std::int64_t kMostHeads = std::int64_t{1} << 14U;
inline constexpr std::int64_t kMostHeadDim = std::int64_t{1} << 13U;
inline constexpr std::int64_t kMostLayers = std::int64_t{1} << 13U;
inline constexpr std::int64_t kMostVocab = std::int64_t{1} << 28U;
inline constexpr std::int64_t kMostPositions = std::int64_t{1} << 40U;
inline constexpr std::int64_t kMostExperts = std::int64_t{1} << 14U;

DenseConfig read_dense(TableReader& config, const DenseDefaults& defaults);

/// A whole number from 1 to `most`; 0 after an error.
std::int64_t read_size(TableReader& config, const char* key, std::int64_t most);
/// The same; `fallback` when the key is absent or null.
std::int64_t read_size_or(TableReader& config, const char* key, std::int64_t most,
                          std::int64_t fallback);
/// The flag, or `fallback` with an assumption that says so.
bool read_flag(TableReader& config, const char* key, bool fallback, Architecture& architecture);
/// Keys that this family knows not to matter for sizes.
void pass_over(TableReader& config, std::initializer_list<const char*> keys);
/// A flag that must have one value (or be absent); anything else is not understood.
void expect_flag(TableReader& config, const char* key, bool value);

/// The window of a family that slides in every layer from `first_layer` on; `fallback` is what the
/// family takes when the key is absent, null means none.
std::int64_t read_window(TableReader& config, std::int64_t fallback, Architecture& architecture);
/// One window a layer (0: none) as `layer_types` says; absent when the file has no such key.
std::optional<std::vector<std::int64_t>> read_layer_types(TableReader& config,
                                                          std::int64_t layer_count,
                                                          std::int64_t window);
/// The type of each layer, one of `known`; absent when the file has no such key.
std::optional<std::vector<std::string>> read_layer_names(TableReader& config,
                                                         std::int64_t layer_count,
                                                         const std::vector<std::string>& known);
/// use_sliding_window with max_window_layers, as Qwen2 and Qwen3 have them: one window a layer.
std::vector<std::int64_t> read_qwen_windows(TableReader& config, DenseConfig& dense);
std::vector<std::int64_t> same_window(const DenseConfig& config, std::int64_t window);
/// Sizes of routed experts: the keys differ, the checks do not.
ExpertShape read_experts(TableReader& config, const char* experts_key, const char* top_k_key,
                         const char* intermediate_key);

/// Layers with equal windows become kinds; adds all weights.
Architecture finish_dense(DenseConfig config, const std::vector<std::int64_t>& windows);
/// `order` has the kind of each layer. Kinds that no layer has are left out; adds all weights.
Architecture finish_layers(DenseConfig config, const std::vector<LayerGroup>& kinds,
                           const std::vector<int>& order);

}  // namespace floorline
