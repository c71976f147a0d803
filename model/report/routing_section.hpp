// SPDX-License-Identifier: Apache-2.0
// What depends on data that nobody knows beforehand: the experts that a router picks. The floor
// counts the least; uniform routing stands beside it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/evaluate.hpp"
#include "model/report/document.hpp"

namespace floorline {

/// experts { least, uniform, all } of operator `i`: distinct ones that its busiest rank reads.
std::optional<Json> experts_json(const Evaluation& evaluation, std::size_t i);
/// total.uniform_routing { … }
Json json_of_uniform(const GraphFloors& uniform);
/// The same as footnotes of the tables; empty when nothing is routed.
std::vector<std::string> routing_lines(const Evaluation& evaluation);
/// Conditions of operators whose amounts rest on more than shapes.
std::vector<std::string> kind_conditions(const Evaluation& evaluation, const Machine* machine);
/// True where the floors hold for one routing, not for every data: they refute no measurement.
bool holds_for_some_routing(const Evaluation& evaluation);

}  // namespace floorline
