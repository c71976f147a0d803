// SPDX-License-Identifier: Apache-2.0
// A pipeline kind from the text of its table, scheduled.
#pragma once

#include <doctest/doctest.h>

#include <string>

#include "model/input/diagnostic.hpp"
#include "model/input/document_node.hpp"
#include "model/timeline/kinds/kind_file.hpp"

namespace floorline {

inline BuiltKind kind_from(const std::string& table) {
  return read_pipeline_kind(
      parse_document("schema = 1\nkind = \"pipeline\"\n" + table, "test.toml"));
}

struct RunKind {
  BuiltKind kind;
  Schedule schedule;
  std::vector<Fact> facts;

  explicit RunKind(const std::string& table)
      : kind(kind_from(table)), schedule(make_schedule(kind.pipeline)), facts(kind.facts) {
    REQUIRE_FALSE(schedule.deadlock.has_value());
    if (!kind.after) return;
    for (Fact& fact : kind.after(kind.pipeline, schedule)) facts.push_back(std::move(fact));
  }
  [[nodiscard]] double period_ms() const { return item_period(schedule).in_base_units() * 1e3; }
  [[nodiscard]] double makespan_ms() const { return schedule.makespan().in_base_units() * 1e3; }
  [[nodiscard]] double fact(const std::string& key) const {
    for (const Fact& f : facts) {
      if (f.key == key) return f.value;
    }
    FAIL("no fact " << key);
    return -1;
  }
  [[nodiscard]] bool has(const std::string& key) const {
    for (const Fact& f : facts) {
      if (f.key == key) return true;
    }
    return false;
  }
};

/// The message of the InputError that reading gives; empty when it gives none.
inline std::string refusal(const std::string& table) {
  try {
    kind_from(table);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace floorline
