// SPDX-License-Identifier: Apache-2.0
// What a command is asked about: a workload (graph file, model, --op) with its settings, as
// something that can be evaluated on a machine.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "model/evaluate.hpp"
#include "model/evaluate_model.hpp"
#include "model/workload/architecture.hpp"

namespace floorline {

struct Subject {
  std::string workload;                     ///< file or --op text, for `inputs`
  std::optional<OperatorGraph> graph;       ///< a graph file or --op
  std::optional<ModelWorkload> model;       ///< a model's config
  std::vector<Assignment> device_settings;  ///< those --set that name device keys
  std::vector<Assignment> graph_settings;   ///< op.NAME.bytes and op.NAME.flops of a model's graph
};

/// Reads the workload and applies every --set that is not a device key. Throws InputError.
Subject read_subject(const WorkloadOptions& options);

/// A device by name or file with the settings of `subject` and the chosen clocks.
Machine load_machine(const std::string& name, const DeviceOptions& options, const Subject& subject);

/// A workload on one device. `why_one`: said where several are named. Throws all that is wrong with
/// the two, after what `wrong` holds already.
struct Question {
  Subject subject;
  Machine machine;
};
Question read_question(const WorkloadOptions& workload, const DeviceOptions& device,
                       const char* why_one, Diagnostics& wrong);

// The two by themselves: what is wrong is added to `wrong`, and nothing is returned.
std::optional<Subject> asked_subject(const WorkloadOptions& options, Diagnostics& wrong);
std::optional<Machine> asked_machine(const std::string& name, const DeviceOptions& options,
                                     const std::optional<Subject>& subject,
                                     const WorkloadOptions& workload, Diagnostics& wrong);

/// One result for all ways in.
struct SubjectResult {
  Evaluation evaluation;  ///< of the graph, or of the model's stage that limits
  std::optional<ModelFloors> model;
  double ranks = 1;
  std::vector<std::string> assumptions;
  std::vector<std::string> notes;
};
SubjectResult evaluate(const Subject& subject, const Machine& machine);

}  // namespace floorline
