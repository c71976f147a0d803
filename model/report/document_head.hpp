// SPDX-License-Identifier: Apache-2.0
// What every JSON document starts with.
#pragma once

#include <string>
#include <vector>

#include "model/evaluate.hpp"
#include "model/report/document.hpp"

namespace floorline {

/// { schema, floorline, command }; inputs, assumptions, notes and the result follow.
Json document_head(std::string_view command);
/// A document with head and empty inputs, assumptions and notes, for lists of what is known.
Document document_frame(std::string_view command);
Json json_of(const std::vector<std::string>& lines);
/// { name, title, file, sm_clock_hz?, memory_clock_scale?, overrides[]? }
Json device_json(const Machine& machine);
/// "h100_sxm (NVIDIA H100 SXM5 80 GB), SM clock 1410 MHz"
std::string device_line(const Machine& machine);
/// All lines once, in order.
std::vector<std::string> unique_lines(const std::vector<std::vector<std::string>>& lists);
/// Conditions as one paragraph, defaults as another, all else a line each.
std::vector<std::string> small_print_lines(const std::vector<std::string>& notes,
                                           const std::vector<std::string>& assumptions);
/// What operators of kind `fused` keep on chip at the sizes of now, and whether it fits.
std::vector<std::string> fused_notes(const OperatorGraph& graph, const Machine* machine);
/// Conditions that stand under every floor, those that apply to this graph.
std::vector<std::string> floor_conditions(const Evaluation& evaluation, const Machine* machine);

}  // namespace floorline
