// SPDX-License-Identifier: Apache-2.0
// What `floorline compare` prints: one workload on several devices, which operators change class,
// and why a device cannot.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/report/bound_document.hpp"

namespace floorline {

/// One device: a result, or the reason why there is none.
struct CompareRow {
  std::string device;
  std::optional<BoundReport> report;
  std::vector<std::string> reasons;
};

Document compare_document(const BoundInputs& inputs, const std::vector<CompareRow>& rows);

}  // namespace floorline
