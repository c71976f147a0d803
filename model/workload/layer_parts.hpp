// SPDX-License-Identifier: Apache-2.0
// The operators of the parts of a layer: what mixes tokens, and what follows. Each takes the
// normalized tokens [T, hidden] of this rank and gives [T, hidden], not yet summed over tp ranks.
// Internal to layer_graph.
#pragma once

#include <string>

#include "model/workload/graph_builder.hpp"

namespace floorline {

/// One layer being written: where its names begin, which kind it is.
struct LayerPart {
  GraphBuilder& b;
  const LayerGroup& group;
  int index = 0;       ///< of Architecture::layers
  std::string prefix;  ///< of operator and tensor names: "" or "sliding."

  [[nodiscard]] std::string named(const std::string& name) const { return prefix + name; }
  [[nodiscard]] TensorId weight(const std::string& name) const {
    return b.weight("layers." + name, index, prefix);
  }
  [[nodiscard]] bool has_weight(const std::string& name) const {
    return b.architecture.find_weight("layers." + name, index) != nullptr;
  }
  [[nodiscard]] TensorId rows(const std::string& name, std::int64_t cols) const {
    return b.activation(named(name), {b.tokens, std::to_string(cols)});
  }
  /// A norm over the last dimension of `x`, into a tensor of the given shape.
  TensorId norm(const std::string& name, const std::string& scale, TensorId x,
                GraphBuilder::Shape out) const;
};

/// What attention sees of each sequence: cached keys that some new query sees, and pairs of query
/// and key, as texts over the graph's symbols or as numbers where sequences differ. With cp ranks
/// of context parallelism a prefill divides its queries and gathers all keys; a decode step divides
/// the cache and gathers all queries. The busiest rank then has at least 1/cp of the pairs: its
/// queries are given as many keys as make that (a prefill without window: kv = c + (q + q')/2 for
/// q' = q/cp queries), rounded down.
class SeenKeys {
 public:
  SeenKeys(const GraphBuilder& builder, const AttentionShape& attention, std::int64_t top_k);

  /// Cached tokens of all sequences that attention reads on this rank.
  [[nodiscard]] std::string cached_tokens() const { return cached_; }
  /// batch, q_len and kv_len, or sequences.
  void set_lengths(Operator& op) const;
  /// causal, and the window.
  void set_mask(Operator& op) const;
  /// Pairs of all sequences on this rank, as an expression.
  [[nodiscard]] std::string pairs() const { return pairs_; }
  /// Tokens of all sequences that are seen at all, on this rank, as an expression.
  [[nodiscard]] std::string all_tokens() const { return all_tokens_; }

 private:
  void symbolic(std::int64_t cp);
  void listed(std::int64_t cp);
  void add_sequence(double count, std::int64_t context, std::int64_t cp, double& cached,
                    double& all);
  [[nodiscard]] std::int64_t visible(std::int64_t context) const;

  const GraphBuilder& b_;
  const AttentionShape& a_;
  std::int64_t top_k_;
  std::string q_len_, kv_len_, cached_, pairs_, all_tokens_;
  std::vector<SequenceGroup> sequences_;
};

TensorId add_attention(const LayerPart& layer, TensorId normed);
TensorId add_latent_attention(const LayerPart& layer, TensorId normed);
TensorId add_mamba2(const LayerPart& layer, TensorId normed);
TensorId add_gated_delta_net(const LayerPart& layer, TensorId normed);
/// [T, hidden] that is the same on all tp ranks where experts are spread over replicas, else not
/// yet summed: `summed` says which.
struct FeedForwardResult {
  TensorId out{};
  bool summed = false;
};
FeedForwardResult add_feed_forward(const LayerPart& layer, TensorId normed);

}  // namespace floorline
