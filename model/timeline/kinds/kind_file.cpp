// SPDX-License-Identifier: Apache-2.0
#include "model/timeline/kinds/kind_file.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "model/input/table_reader.hpp"
#include "model/timeline/kinds/collectives.hpp"
#include "model/timeline/kinds/copies.hpp"
#include "model/timeline/kinds/data_loading.hpp"
#include "model/timeline/kinds/double_buffering.hpp"
#include "model/timeline/kinds/launch_bound.hpp"
#include "model/timeline/kinds/layer_offload.hpp"
#include "model/timeline/kinds/pipeline_parallel.hpp"
#include "model/timeline/kinds/training_step.hpp"
#include "model/timeline/kinds/zero3.hpp"

namespace floorline {

namespace {

/// Reads the table; builds only what was read without a mistake.
template <class In>
BuiltKind read_and_build(TableReader& table, In (*read)(TableReader&, std::vector<std::string>&)) {
  std::vector<std::string> assumptions;
  const In in = read(table, assumptions);
  table.finish();
  table.diagnostics().throw_if_any();
  BuiltKind kind = build(in);
  kind.assumptions.insert(kind.assumptions.begin(), assumptions.begin(), assumptions.end());
  return kind;
}

struct KindRow {
  const char* name;
  BuiltKind (*read)(TableReader&);
};
constexpr std::array<KindRow, 9> kKinds{{
    {"data_loading", [](TableReader& t) { return read_and_build(t, read_data_loading); }},
    {"double_buffering", [](TableReader& t) { return read_and_build(t, read_double_buffering); }},
    {"layer_offload", [](TableReader& t) { return read_and_build(t, read_layer_offload); }},
    {"launch_bound", [](TableReader& t) { return read_and_build(t, read_launch_bound); }},
    {"collectives", [](TableReader& t) { return read_and_build(t, read_collectives); }},
    {"training_step", [](TableReader& t) { return read_and_build(t, read_training_step); }},
    {"zero3", [](TableReader& t) { return read_and_build(t, read_zero3); }},
    {"pipeline_parallel", [](TableReader& t) { return read_and_build(t, read_pipeline_parallel); }},
    {"copies", [](TableReader& t) { return read_and_build(t, read_copies); }},
}};

void check_head(TableReader& file) {
  const std::optional<std::int64_t> schema = file.count("schema");
  if (schema && *schema != 1)
    file.error("schema", "is " + std::to_string(*schema) + "; expected 1");
  if (!file.has("schema")) file.required_node("schema", "1");
  const std::string kind = file.required_text("kind");
  if (!kind.empty() && kind != "pipeline")
    file.error("kind", "is " + quoted(kind) + "; expected \"pipeline\"");
}

/// bytes over a rate can be anything; a schedule needs numbers.
void check_times(const Pipeline& pipeline, const Position& at) {
  for (const Stage& stage : pipeline.stages) {
    if (std::isfinite(stage.time.constant.in_base_units())) continue;
    throw InputError(Diagnostic{at, stage.name, "takes longer than a number can say"});
  }
}

}  // namespace

std::vector<std::string> pipeline_kind_names() {
  std::vector<std::string> names;
  for (const KindRow& row : kKinds) names.emplace_back(row.name);
  return names;
}

bool names_pipeline_kind(const Node& document) {
  return std::any_of(kKinds.begin(), kKinds.end(),
                     [&](const KindRow& row) { return document.find(row.name) != nullptr; });
}

BuiltKind read_pipeline_kind(const Node& document) {
  Diagnostics diagnostics;
  TableReader file(document, "", diagnostics);
  check_head(file);
  const std::optional<std::string> name = file.text("name");
  const KindRow* chosen = nullptr;
  const Node* table = nullptr;
  for (const KindRow& row : kKinds) {
    const Node* found = file.node(row.name);
    if (found == nullptr) continue;
    if (chosen != nullptr) {
      file.error(row.name, std::string("stands beside ") + chosen->name + "; expected one kind");
      continue;
    }
    chosen = &row;
    table = found;
  }
  file.finish();
  if (chosen == nullptr) {
    diagnostics.add(document.at, "", "no pipeline kind; expected a table such as [data_loading]");
    diagnostics.throw_if_any();
  }
  TableReader keys(*table, chosen->name, diagnostics);
  BuiltKind kind = chosen->read(keys);
  check_times(kind.pipeline, table->at);
  if (name) kind.pipeline.name = *name;
  return kind;
}

}  // namespace floorline
