// SPDX-License-Identifier: Apache-2.0
// Some layers' weights wait in host memory and cross the link once a token: how many tokens a
// second, and how many layers may be offloaded for a given rate?
//   copy of offloaded layer j    latency + layer_bytes / bandwidth, in the order of use, begun when
//                                one of prefetch + 1 buffers is free: after the compute of the
//                                (prefetch + 1)-th offloaded layer before it
//   compute of layer i           after layer i - 1 and its own copy; layer 0 after the last token
// The link alone allows at most 1 / (offloaded x copy) tokens a second, whatever is prefetched.
// `placement`: which layers are offloaded, spread over the depth, the first or the last.
// Ignored: the KV cache, batches (a copy serves all sequences of a step), embeddings.
#pragma once

#include <cstdint>
#include <optional>

#include "model/timeline/kinds/built_kind.hpp"

namespace floorline {

class TableReader;

enum class Placement : std::uint8_t { spread, first, last };

struct LayerOffload {
  std::int64_t tokens = 4;
  std::int64_t layers = 1;
  std::int64_t offloaded = 0;
  std::int64_t prefetch = 1;
  Placement placement = Placement::spread;
  Bytes layer_bytes{0};
  BytesPerSecond bandwidth{1};
  Seconds latency{0};
  Seconds layer_time{0};
  std::optional<double> target_tokens_per_s;

  [[nodiscard]] Seconds copy_time() const { return latency + layer_bytes / bandwidth; }
};

LayerOffload read_layer_offload(TableReader& table, std::vector<std::string>& assumptions);
BuiltKind build(const LayerOffload& offload);

/// The most layers whose copies alone take no longer than a token at `tokens_per_s` may.
std::int64_t most_layers_by_link(const LayerOffload& offload, double tokens_per_s);
/// The most for which this schedule reaches the rate; absent when none offloaded is too slow
/// already.
std::optional<std::int64_t> most_layers_scheduled(LayerOffload offload, double tokens_per_s);

}  // namespace floorline
