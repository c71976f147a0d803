// SPDX-License-Identifier: Apache-2.0
// The named weights that follow from the shapes of layers. Names are those of Hugging Face's Llama
// and DeepSeek classes, whatever a family calls them. Internal to the readers of families.
#pragma once

#include <string>

#include "model/workload/architecture.hpp"

namespace floorline {

class WeightList {
 public:
  explicit WeightList(Architecture& architecture) : architecture_(architecture) {}

  /// What is added from here on belongs to `count` layers of a group, or (-1) to none.
  void in_group(int group, std::int64_t count, std::string prefix) {
    group_ = group;
    count_ = count;
    prefix_ = std::move(prefix);
  }
  void as_draft(bool draft) { draft_ = draft; }
  /// The reference holds until the next weight is added.
  NamedWeight& add(const std::string& name, WeightShape shape, Sharding sharding,
                   std::int64_t unit = 1);
  /// A matrix and, if it has one, its bias. That of a matrix divided by rows is added once, after
  /// the sum over ranks.
  void add_projection(const std::string& name, WeightShape shape, Sharding sharding,
                      std::int64_t unit, bool bias);
  /// `experts` instances in each layer, top_k of them used by a token.
  void add_expert(const std::string& name, WeightShape shape, Sharding sharding,
                  const ExpertShape& experts);

 private:
  Architecture& architecture_;
  int group_ = -1;
  std::int64_t count_ = 1;
  std::string prefix_;
  bool draft_ = false;
};

/// All weights of one layer.
void add_layer_weights(std::int64_t hidden, const LayerGroup& layer, WeightList& list);
/// Embedding, layers, final norm, lm_head unless tied.
void add_weights(Architecture& architecture);
/// `count` modules of multi-token prediction, each a layer, two norms of what it is given, a
/// product [h, 2h] and a final norm. Embedding and lm_head are those of the model.
void add_draft_weights(Architecture& architecture, const LayerGroup& layer, std::int64_t count);

}  // namespace floorline
