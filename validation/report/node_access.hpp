// SPDX-License-Identifier: Apache-2.0
// Members of a document that was read, by path: "run.result.verdict". What is absent or of another
// type reads as nothing, so that a broken record shows gaps, not a crash.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/input/document_node.hpp"

namespace floorline {

const Node* node_at(const Node& root, std::string_view path);
std::string text_at(const Node& root, std::string_view path);
std::optional<double> number_at(const Node& root, std::string_view path);
std::vector<std::string> texts_at(const Node& root, std::string_view path);

}  // namespace floorline
