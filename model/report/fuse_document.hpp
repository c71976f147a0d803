// SPDX-License-Identifier: Apache-2.0
// What `floorline fuse` prints.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/report/document.hpp"
#include "model/whatif/fusion.hpp"

namespace floorline {

struct FuseReport {
  std::string workload;
  std::vector<std::string> set;
  std::vector<std::string> groups;  ///< as typed
  std::optional<double> chunk;      ///< rows, of --chunk
  double ranks = 1;
  const Machine* machine = nullptr;
  const FusionResult* result = nullptr;
  std::vector<std::string> assumptions;
  std::vector<std::string> notes;
};

Document fuse_document(const FuseReport& report);

}  // namespace floorline
