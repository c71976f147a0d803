// SPDX-License-Identifier: Apache-2.0
// The operator graph that predicts an experiment: one --op where one operator says it, else a graph
// in the file format of workloads/. Kernels that run one after the other are operators of one
// graph, so its serial floor is theirs. What no operator has (launch overhead, latency, contention
// for one address) is not in a floor: such experiments show how far from it a run can lie.
#pragma once

#include <string>

#include "model/workload/graph.hpp"
#include "validation/experiment/experiment.hpp"

namespace floorline {

/// 'layernorm rows=8192 …' or a whole graph file (starts with "schema"): what records hash.
std::string prediction_text(const ExperimentSpec& spec);
OperatorGraph prediction_graph(const ExperimentSpec& spec);

}  // namespace floorline
