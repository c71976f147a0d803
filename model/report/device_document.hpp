// SPDX-License-Identifier: Apache-2.0
// What `floorline devices` and `floorline devices show NAME` print.
#pragma once

#include <string>
#include <vector>

#include "model/evaluate.hpp"
#include "model/report/document.hpp"

namespace floorline {

Document device_list_document(const std::vector<Machine>& machines);
/// Every number with origin and source, resolved rates, ridge points, share of numbers known.
Document device_document(const Machine& machine);

}  // namespace floorline
