// SPDX-License-Identifier: Apache-2.0
#include "model/timeline/kinds/built_kind.hpp"

#include <optional>

#include "model/quantity/unit_names.hpp"
#include "model/timeline/period.hpp"

namespace floorline {

Fact time_fact(std::string key, std::string label, Seconds value) {
  return {std::move(key), std::move(label), value.in_base_units(), to_text(value)};
}
Fact bytes_fact(std::string key, std::string label, Bytes value) {
  return {std::move(key), std::move(label), value.in_base_units(),
          to_text_binary(value) + " = " + to_text(value)};
}
Fact count_fact(std::string key, std::string label, std::int64_t value) {
  return {std::move(key), std::move(label), static_cast<double>(value), std::to_string(value)};
}
Fact share_fact(std::string key, std::string label, double value) {
  return {std::move(key), std::move(label), value, number_text(100 * value) + " %"};
}
Fact factor_fact(std::string key, std::string label, double value) {
  return {std::move(key), std::move(label), value, number_text(value) + "x"};
}
Fact number_fact(std::string key, std::string label, double value, const std::string& unit) {
  return {std::move(key), std::move(label), value, number_text(value) + " " + unit};
}

Seconds item_period(const Schedule& schedule) {
  if (const std::optional<Seconds> exact = repeating_period(schedule)) return *exact;
  const std::vector<Ticks>& ends = schedule.completion;
  const std::size_t n = ends.size();
  if (n < 2) return Seconds(0);
  const std::size_t from = (n - 1) / 2;
  return schedule.time_of(ends[n - 1] - ends[from]) / static_cast<double>(n - 1 - from);
}

Seconds period_without(const Pipeline& pipeline, std::string_view group) {
  ScheduleOptions options;
  options.record = false;
  for (const Stage& stage : pipeline.stages) {
    const std::string& name = stage.group.empty() ? stage.name : stage.group;
    options.factor.push_back(name == group ? 0 : 1);
  }
  return item_period(make_schedule(pipeline, options));
}

}  // namespace floorline
