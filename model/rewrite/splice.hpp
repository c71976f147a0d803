// SPDX-License-Identifier: Apache-2.0
// Taking an operator out of a graph, or putting another one in its place.
//   removed   its n-th output is read from its n-th input (weights aside) where both have the same
//             number of elements, as after a cast, a dropout or an all_reduce that is not needed;
//             any other output that something reads counts as an input from outside.
//   replaced  by the operators of an --op text; tensors that have the same size and storage as the
//             old ones take their places, all others are inputs and outputs of their own.
// Sizes of the new operator are numbers: they do not follow the symbols of the graph.
#pragma once

#include <string>

#include "model/workload/graph.hpp"

namespace floorline {

/// Throws InputError when it is the only operator.
void remove_operator(OperatorGraph& graph, OperatorId id);
/// Throws InputError with what is wrong with `text`.
void replace_operator(OperatorGraph& graph, OperatorId id, const std::string& text);

}  // namespace floorline
