// SPDX-License-Identifier: Apache-2.0
// A hypothesis and what became of it, for people, in three parts: boundary and baseline; limit and
// evidence; one change with prediction, observation and refutation. Made from the JSON of a run, so
// that a record of long ago and a run of now read the same.
#pragma once

#include "model/input/document_node.hpp"
#include "model/report/document.hpp"
#include "validation/verdict/hypothesis_run.hpp"

namespace floorline {

/// `floorline validate H.toml`.
Document run_document(const HypothesisRun& run);

/// The sections alone. The first one's first line says what this proves of a GPU.
std::vector<Section> run_sections(const Node& run);
/// The document under `command` of a record that was read (`record report`, `record show`).
Document record_document(const Node& record, std::string_view command);

/// Json as the tree that readers make of it, and back.
Node node_of(const Json& json);
Json json_of(const Node& node);

}  // namespace floorline
