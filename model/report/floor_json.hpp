// SPDX-License-Identifier: Apache-2.0
// Floors under the output contract (design §14): the same keys in every command.
#pragma once

#include <vector>

#include "model/floor/graph_floor.hpp"
#include "model/report/document.hpp"

namespace floorline {

/// The key that carries an amount or rate of this resource: "bytes", "flops", "operations".
const char* amount_key(ResourceId id);
const char* rate_key(ResourceId id);

Json json_of(const Term& term);
/// The cold floor, with condition, binding, runner-up, break-even and terms.
Json json_of(const Floor& floor);
Json json_of_any_residency(const OperatorFloors& op);
Json json_of(const ObservedTerms& observed);
/// total { … } of a graph on `ranks` ranks.
/// Without a device (a kernel by numbers) HBM bytes are not known: null.
Json json_of_total(const GraphFloors& floors, double ranks, bool has_device = true);

}  // namespace floorline
