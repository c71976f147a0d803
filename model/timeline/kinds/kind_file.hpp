// SPDX-License-Identifier: Apache-2.0
// A pipeline file that holds one kind and its few keys instead of resources and stages:
//   schema = 1
//   kind = "pipeline"
//   [data_loading]
//   num_workers = 4
//   …
// workloads/PIPELINES.md documents every key.
#pragma once

#include <string>
#include <vector>

#include "model/timeline/kinds/built_kind.hpp"

namespace floorline {

struct Node;

/// "data_loading", "double_buffering", …
std::vector<std::string> pipeline_kind_names();
/// A table that at least one such name opens.
bool names_pipeline_kind(const Node& document);
/// Throws InputError with all that is wrong.
BuiltKind read_pipeline_kind(const Node& document);

}  // namespace floorline
