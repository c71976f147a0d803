// SPDX-License-Identifier: Apache-2.0
// What `floorline ledger` is asked, and the report that answers it, for each way in: a list of
// lines, a ledger file, a model.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "model/report/ledger_document.hpp"
#include "model/workload/weights_file/stored_weights.hpp"

namespace floorline {

struct LedgerOptions {
  WorkloadOptions workload;
  DeviceOptions device;
  OutputOptions output;
  std::vector<std::string> lines;    ///< NAME=BYTES
  std::vector<std::string> against;  ///< NAME=VALUE of a second scenario
  std::string budget, utilization;
  std::string engine = "none";
  std::string engine_version;
  std::string solve;
  std::string weights;                          ///< a file or folder whose headers are read
  std::string params, active_params;            ///< a model known by its size
  std::shared_ptr<const StoredWeights> stored;  ///< what `weights` says
};

/// Throws InputError. Of options.against nothing is read.
LedgerReport ledger_report(const LedgerOptions& options);
/// The options of the second scenario.
LedgerOptions changed_options(const LedgerOptions& options);

}  // namespace floorline
