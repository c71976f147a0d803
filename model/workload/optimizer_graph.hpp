// SPDX-License-Identifier: Apache-2.0
// What dp ranks exchange and how weights change. P parameters of one rank of a replica, N = dp
// ranks, ⌈P/N⌉ of them are its share where ZeRO divides (Rajbhandari et al. 2020, arXiv
// 1910.02054):
//   zero   gradients             after the step   forward and backward   updated by one rank
//   0      all_reduce P          -                -                      P
//   1, 2   reduce_scatter P      all_gather P     -                      ⌈P/N⌉
//   3      reduce_scatter P      -                all_gather P each      ⌈P/N⌉
// Zero 1 and 2 differ in what is kept, not in what moves. Bytes a parameter, w: weights' storage,
// g: gradients' (16-bit weights; weights stored in 32 bits are their own master and are read
// instead):
//   adamw      reads g + 4 (master) + 4 + 4 (moments), writes 4 + 4 + 4 + w
//   adamw8bit  no master: reads g + w + 1 + 1 and 4/256 twice, writes w + 1 + 1 and 4/256 twice
//              (Dettmers et al. 2022, arXiv 2110.02861: a scale for each block of a moment, here
//              256)
//   adamw_bf16 no master, moments stored as the weights: reads g + w + w + w, writes w + w + w
//   sgd        with momentum: reads g + 4 (master) + 4, writes 4 + 4 + w
// Where zero = 1 or 2 the share of the weights themselves (w) is not counted as read (weaker).
#pragma once

#include <string>
#include <vector>

#include "model/workload/layout.hpp"
#include "model/workload/scenario.hpp"
#include "model/workload/training_editor.hpp"

namespace floorline {

/// Weights that are gathered, reduced and updated together.
struct WeightClass {
  std::string prefix;             ///< of operators and tensors: "" or "sliding.layer."
  std::vector<TensorId> weights;  ///< full, of this rank of the replica
  std::vector<TensorId> shards;   ///< zero = 3: what this rank keeps, one a storage precision
};

class WeightUpdate {
 public:
  WeightUpdate(TrainingEditor& editor, const TrainingPlan& plan, std::int64_t dp)
      : e_(editor), plan_(plan), dp_(dp) {}

  [[nodiscard]] bool gathers() const { return plan_.zero == 3 && dp_ > 1; }
  /// Zero 3: makes the full weights of this rank's share.
  void gather(WeightClass& owner, const std::vector<TensorId>& into, const std::string& name);
  /// Sums gradients over dp ranks; gives what the optimizer reads.
  std::vector<TensorId> reduce(const WeightClass& owner, const std::vector<TensorId>& gradients);
  void update(const WeightClass& owner, const std::vector<TensorId>& gradients);

 private:
  [[nodiscard]] std::int64_t share(std::int64_t parameters) const;
  [[nodiscard]] std::int64_t elements(const std::vector<TensorId>& ids) const;
  [[nodiscard]] std::vector<Precision> storages(const std::vector<TensorId>& ids) const;
  [[nodiscard]] std::vector<TensorId> stored_as(const std::vector<TensorId>& ids,
                                                Precision dtype) const;
  struct Tensors {
    std::vector<TensorId> inputs;
    std::vector<TensorId> outputs;
  };
  void add_state(const WeightClass& owner, const char* name, std::int64_t n, Precision dtype,
                 Tensors& tensors);
  void add_states(const WeightClass& owner, Tensors& tensors);
  void read_weights(const WeightClass& owner, Precision dtype, Tensors& tensors);

  TrainingEditor& e_;
  const TrainingPlan& plan_;
  std::int64_t dp_;
};

}  // namespace floorline
