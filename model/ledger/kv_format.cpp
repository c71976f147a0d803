// SPDX-License-Identifier: Apache-2.0
#include "model/ledger/kv_format.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace floorline {

namespace {

constexpr std::int64_t kEighths = 8;    // KvFormat::bits are eighths of a bit
constexpr std::int64_t kScaleOf = 128;  // elements that share an fp32 scale
constexpr std::int64_t kScaleBytes = 4;

/// Formats that are no plain storage precision. ggml blocks of 32: 34 B are 8.5 bits an element.
constexpr std::array<KvFormat, 9> kFormats{{
    {"fp8_per_token_head", 64, kScaleBytes, false},
    {"int8_per_token_head", 64, kScaleBytes, false},
    {"fp8_ds_mla", 64, 0, true},
    {"q8_0", 68, 0, false},
    {"q5_1", 48, 0, false},
    {"q5_0", 44, 0, false},
    {"q4_1", 40, 0, false},
    {"q4_0", 36, 0, false},
    {"iq4_nl", 36, 0, false},
}};

std::int64_t divided(std::int64_t size, std::int64_t ranks) { return (size + ranks - 1) / ranks; }

ByteCount elements_bytes(std::int64_t elements, const KvFormat& format) {
  return ByteCount::from_bits(elements, format.bits, kEighths);
}

ByteCount latent_bytes(const LatentShape& l, const KvFormat& format) {
  constexpr std::int64_t kRopeBytes = 2;
  ByteCount bytes = format.latent_only
                        ? ByteCount(l.kv_rank + divided(l.kv_rank, kScaleOf) * kScaleBytes +
                                    l.rope_dim * kRopeBytes)
                        : elements_bytes(l.kv_rank + l.rope_dim, format);
  if (l.index_heads > 0) {
    bytes = bytes + ByteCount(l.index_dim + divided(l.index_dim, kScaleOf) * kScaleBytes);
  }
  return bytes;
}

}  // namespace

std::optional<KvFormat> kv_format_from(std::string_view name) {
  for (const KvFormat& format : kFormats) {
    if (format.name == name) return format;
  }
  const std::optional<Precision> plain = precision_from(name);
  if (!plain || !(storage_bits(*plain) > 0)) return std::nullopt;
  return kv_format_of(*plain);
}

std::vector<std::string_view> kv_format_names() {
  std::vector<std::string_view> names;
  for (const KvFormat& format : kFormats) names.push_back(format.name);
  for (const PrecisionInfo& p : kPrecisions) {
    if (p.bits > 0) names.push_back(p.name);
  }
  return names;
}

KvFormat kv_format_of(Precision storage) {
  const double eighths = storage_bits(storage) * static_cast<double>(kEighths);
  return {name_of(storage), static_cast<std::int64_t>(std::lround(eighths)), 0, false};
}

std::string_view format_error(const LayerGroup& layer, const KvFormat& format) {
  const bool latent = layer.mixer == Mixer::latent_attention;
  if (layer.mixer == Mixer::attention && format.latent_only) return "is for latent attention only";
  if (latent && format.bytes_per_head > 0) return "needs heads, which a latent cache has none of";
  return "";
}

ByteCount kv_bytes_per_token(const LayerGroup& layer, const KvFormat& format, std::int64_t tp) {
  if (layer.mixer == Mixer::latent_attention) return latent_bytes(layer.latent, format);
  if (layer.mixer != Mixer::attention) return {};
  const AttentionShape& a = layer.attention;
  const ByteCount head = elements_bytes(a.head_dim, format) + elements_bytes(a.v_dim, format) +
                         ByteCount(2 * format.bytes_per_head);
  return head * divided(a.kv_heads, tp);
}

ByteCount state_bytes(const LayerGroup& layer, Precision conv, std::int64_t tp) {
  if (layer.mixer != Mixer::mamba2 && layer.mixer != Mixer::gated_delta_net) return {};
  const StateShape& s = layer.state;
  const KvFormat taps = kv_format_of(conv);
  const KvFormat kept = kv_format_of(s.dtype);
  return elements_bytes((s.conv_width - 1) * conv_channels(layer, tp), taps) +
         elements_bytes(divided(s.heads, tp) * s.key_dim * s.value_dim, kept);
}

}  // namespace floorline
