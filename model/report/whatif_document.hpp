// SPDX-License-Identifier: Apache-2.0
// What `floorline whatif` prints.
#pragma once

#include "model/report/document.hpp"
#include "model/whatif/whatif.hpp"

namespace floorline {

/// What was asked, echoed under `inputs`.
struct WhatifInputs {
  std::string workload;  ///< "" for a kernel by numbers, or for measured times alone
  std::vector<std::string> set;
  std::vector<std::string> changes;
  std::vector<std::string> measured;
  std::vector<std::string> points;
  std::string emitted;  ///< file of the changed graph
  bool all_ranked = false;
  int top = 0;           ///< rows of the ranking; 0: the first few
  bool explain = false;  ///< the derivation of both sides
};

Document whatif_document(const WhatifInputs& inputs, const Whatif& result);

/// Measured times alone: no workload, no device, no floor.
Document amdahl_document(const WhatifInputs& inputs, const AmdahlPrediction& prediction);

}  // namespace floorline
