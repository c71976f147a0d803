// SPDX-License-Identifier: Apache-2.0
// Hypothesis files, schema 1 (validation/HYPOTHESES.md): reading with every mistake told at once,
// the single-variable check included, and writing one that reads back.
#pragma once

#include <string>
#include <string_view>

#include "model/input/document_node.hpp"
#include "validation/hypothesis/hypothesis.hpp"

namespace floorline {

bool is_hypothesis_document(const Node& document);

/// Throws InputError. `file_name` names it in messages and, without `name`, is its name's stem.
Hypothesis parse_hypothesis(std::string_view text, std::string_view file_name);
Hypothesis read_hypothesis_file(const std::string& path);

/// The file's text, such that parse_hypothesis() gives the same hypothesis.
std::string write_hypothesis(const Hypothesis& hypothesis);

}  // namespace floorline
