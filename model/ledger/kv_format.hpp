// SPDX-License-Identifier: Apache-2.0
// How a cache stores keys and values, and what one token of one layer takes on one rank:
//   heads     heads x (bytes(head_dim) + bytes(v_dim)), a rank never has less than one KV head
//   latent    bytes(kv_rank + rope_dim), on every rank whole (arXiv 2405.04434)
//   indexer   index_dim fp8 bytes and an fp32 scale a 128 (DeepSeek-V3.2): 132 B
// bytes(n) = ceil(n x bits / 8), and 4 B a head for K and for V in per-token-head formats.
// fp8_ds_mla: kv_rank fp8 bytes, an fp32 scale a 128, rope_dim in 16 bits: 512 + 16 + 128 = 656 B.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/quantity/byte_count.hpp"
#include "model/quantity/precision.hpp"
#include "model/workload/architecture.hpp"

namespace floorline {

struct KvFormat {
  std::string_view name;
  std::int64_t bits = 16;           ///< of 1/8 bit: 128 is 16 bits
  std::int64_t bytes_per_head = 0;  ///< scales of one head's K, and of its V
  bool latent_only = false;         ///< fp8_ds_mla
};

/// "bf16", "fp8", "int8_per_token_head", "q8_0", "nvfp4", "fp8_ds_mla"…
std::optional<KvFormat> kv_format_from(std::string_view name);
std::vector<std::string_view> kv_format_names();
KvFormat kv_format_of(Precision storage);

/// Why this format cannot hold this layer's cache; empty: it can.
std::string_view format_error(const LayerGroup& layer, const KvFormat& format);
/// Keys and values of one token in one layer on one of `tp` ranks; zero for layers without a cache.
ByteCount kv_bytes_per_token(const LayerGroup& layer, const KvFormat& format, std::int64_t tp);
/// What one sequence keeps in one state layer on one of `tp` ranks.
ByteCount state_bytes(const LayerGroup& layer, Precision conv, std::int64_t tp);

}  // namespace floorline
