// SPDX-License-Identifier: Apache-2.0
// --set on a pipeline file: `items=100`, `stage.NAME.KEY=VALUE`, `resource.NAME.KEY=VALUE`,
// `buffer.PRODUCER-CONSUMER.capacity=VALUE`, `TABLE.KEY=VALUE` for any other table, each as if the
// file said so; `*=` scales a number or a quantity.
#pragma once

#include "model/input/document_node.hpp"
#include "model/rewrite/assignment.hpp"

namespace floorline {

/// Throws InputError: no such stage, nothing to scale.
void apply_setting(const Assignment& assignment, Node& document);

}  // namespace floorline
