// SPDX-License-Identifier: Apache-2.0
// Parts of a run's document: words for what a record's JSON holds, and its first two sections.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/input/document_node.hpp"
#include "model/report/document.hpp"
#include "validation/observation/sample.hpp"

namespace floorline::run_text {

std::string value_text(MeasurandKind kind, std::optional<double> value);
MeasurandKind kind_at(const Node& node, std::string_view path);
/// "1.7 to 2.05", "at least 3", "-".
std::string interval_text(MeasurandKind kind, std::optional<double> low,
                          std::optional<double> high);
std::string or_dash(const std::string& text);
std::string seconds_at(const Node& node, std::string_view path);
/// Baseline and variant, null where the record lacks one.
std::vector<std::pair<std::string, const Node*>> cases(const Node& run);
/// Empty values are left out.
void add_field(Section& section, const char* name, const std::string& value);

Section boundary_section(const Node& run);  ///< question, boundary, cases, how it was measured
Section limit_section(const Node& run);     ///< claimed limit, floors, equations

}  // namespace floorline::run_text
