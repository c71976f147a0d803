// SPDX-License-Identifier: Apache-2.0
// What a pipeline kind makes of its few keys: a Pipeline for the one scheduler, answers known
// before it runs, and answers that need the schedule.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "model/timeline/pipeline.hpp"
#include "model/timeline/schedule.hpp"

namespace floorline {

/// One line of the report. `key` carries the unit, as all keys of the JSON document do.
struct Fact {
  std::string key;
  std::string label;
  double value = 0;
  std::string text;
};
Fact time_fact(std::string key, std::string label, Seconds value);
Fact bytes_fact(std::string key, std::string label, Bytes value);
Fact count_fact(std::string key, std::string label, std::int64_t value);
/// "21.6 %"
Fact share_fact(std::string key, std::string label, double value);
/// "1.304x"
Fact factor_fact(std::string key, std::string label, double value);
/// A number and what it counts: "0.3917 token/s".
Fact number_fact(std::string key, std::string label, double value, const std::string& unit);

struct BuiltKind {
  std::string kind;  ///< the table's name: "data_loading"
  Pipeline pipeline;
  std::vector<Fact> facts;
  std::vector<std::string> assumptions;
  std::vector<std::string> notes;
  std::function<std::vector<Fact>(const Pipeline&, const Schedule&)> after;
};

/// The exact period of the ends of items where they repeat, else the mean over the second half of
/// the run. Zero for one item.
Seconds item_period(const Schedule& schedule);

/// The period with every stage of `group` free.
Seconds period_without(const Pipeline& pipeline, std::string_view group);

}  // namespace floorline
