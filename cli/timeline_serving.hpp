// SPDX-License-Identifier: Apache-2.0
// The [serving] kind of floorline timeline: reads the trace and the step times from CSV files.
#pragma once

#include <string>
#include <vector>

#include "model/report/document.hpp"

namespace floorline {

struct Node;

struct ServingRequestOfUser {
  std::string workload;  ///< as given
  std::string folder;    ///< of the file: tables are looked up there
  std::vector<std::string> set;
  int top = 0;
};

/// Throws InputError with all that is wrong in the file and its tables.
Document timeline_of_serving(const Node& document, const ServingRequestOfUser& request);

}  // namespace floorline
