// SPDX-License-Identifier: Apache-2.0
// A model of which only the number of parameters is known: weights, and in training gradients and
// optimizer. KV cache and activations follow from shapes that are not known; that is said, not
// guessed. All parameters are taken as divided by tp x pp and of one storage.
#pragma once

#include <cstdint>
#include <optional>

#include "model/ledger/training_ledger.hpp"

namespace floorline {

struct ModelSize {
  std::int64_t parameters = 0;
  std::optional<std::int64_t> active;
};
/// The ledger of one rank with what is unknown in the notes.
TrainingLedger size_ledger(const ModelSize& size, const Scenario& scenario,
                           const ParallelLayout& layout);

}  // namespace floorline
