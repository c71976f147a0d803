// SPDX-License-Identifier: Apache-2.0
// The parts of NAME=VALUE that change a graph beyond its symbols: an operator's amounts and
// precisions, its removal or replacement, storage of tensors.
#pragma once

#include "model/quantity/unit_names.hpp"
#include "model/rewrite/assignment.hpp"

namespace floorline {

/// The value as a plain number or with its unit. Throws InputError.
double plain_number(const Assignment& a, const char* expected);
double amount_of(const Assignment& a, Dimension dimension);

/// Whose compute and accumulate precision op.NAME.compute is: the operator's; of a fused one that
/// of its matrix products and attention, of all its parts where there are none.
std::vector<const Operator*> arithmetic_of(const Operator& op);

/// op.NAME=remove or op.NAME='KIND …': the name is that of a whole operator.
bool names_whole_operator(const OperatorGraph& graph, const Assignment& a);
/// `op.…`. Throws InputError.
void assign_operator(OperatorGraph& graph, const Assignment& a);

/// tensor.NAME.dtype, weight_dtype[.GLOB], activation_dtype, kv_dtype, compute_dtype,
/// accumulate_dtype.
bool names_precision(std::string_view name);
void assign_precision(OperatorGraph& graph, const Assignment& a);
/// Tensors of the cache: role state, and keys and values that attention reads from outside.
std::vector<TensorId> cache_tensors(const OperatorGraph& graph);
/// The tensors that a name of storage in assign_precision() is about.
std::vector<TensorId> tensors_under(const OperatorGraph& graph, std::string_view name);
/// The precisions now under a name of assign_precision(), each once.
std::vector<std::string> precisions_under(const OperatorGraph& graph, std::string_view name);
/// Whether `name`, a part of a graph, names anything of this one.
bool is_part_of(const OperatorGraph& graph, std::string_view name);

}  // namespace floorline
