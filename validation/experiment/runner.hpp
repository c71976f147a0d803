// SPDX-License-Identifier: Apache-2.0
// One experiment on one backend: correctness first, warm-up, then samples until the interval of
// the median is as narrow as asked or the budget ends (README.md of this folder). Cold runs rotate
// over W distinct bytes, outputs included, with W >= 20 S_keep where memory allows; the observation
// says which W it was, and how many calls touch it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "validation/experiment/backend.hpp"

namespace floorline {

struct ExperimentRun {
  ExperimentSpec spec;
  std::optional<Observation> observation;  ///< of time; absent when nothing was measured
  std::string why_not;                     ///< then: "needs two devices; there is one"
  bool wrong = false;  ///< the kernel's results are not the reference's: it was not timed
};

ExperimentRun run_experiment(Backend& backend, const ExperimentSpec& spec, const Method& method);

/// Copies of the buffers that a run rotates over.
struct Rotation {
  std::int64_t sets = 1;
  Bytes each{0};       ///< of one: W is sets times this
  std::string limit;   ///< when W < 20 S_keep: what there is too little of
  std::string cannot;  ///< not even one set fits: what is missing
};
Rotation rotation_of(const ExperimentSpec& spec, const OnChip& chip, const Method& method,
                     Bytes memory_free);

/// Which output elements are compared: all, or, where the reference would take more than
/// `most_work` FLOPs, whole rows (single elements of products) spread evenly, places by the seed.
/// Every other element is still checked to have been written.
std::vector<std::int64_t> elements_to_check(const ExperimentSpec& spec, std::int64_t output_size,
                                            std::int64_t most_work, std::uint64_t seed);

/// Compares; `message` names the first element beyond its bound.
struct Comparison {
  Correctness correctness;
  std::string message;
};
Comparison compare_output(const ExperimentSpec& spec, const ExperimentData& data,
                          const std::vector<double>& output,
                          const std::vector<std::int64_t>& elements);

}  // namespace floorline
