// SPDX-License-Identifier: Apache-2.0
// Keys that an operator of a graph file cannot do without: what its tensors do not say.
#pragma once

#include <vector>

#include "model/workload/graph.hpp"

namespace floorline {

std::vector<Key> needed_keys(const Operator& op);

}  // namespace floorline
