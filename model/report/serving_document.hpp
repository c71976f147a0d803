// SPDX-License-Identifier: Apache-2.0
// A trace of requests served: when each got its first token and its last, and how full the engine
// was. Percentiles are by nearest rank: the value at place ceil(q n) of n in rising order.
#pragma once

#include <string>
#include <vector>

#include "model/report/document.hpp"
#include "model/timeline/serving_file.hpp"

namespace floorline {

struct ServingReport {
  std::string workload;
  std::vector<std::string> set;
  ServingFile file;
  ServingSetup setup;
  ServingRun run;
  int top = 0;  ///< rows of the table; 0: as many as are useful
};

Document serving_document(const ServingReport& report);

}  // namespace floorline
