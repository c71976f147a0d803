// SPDX-License-Identifier: Apache-2.0
#include "model/report/timeline_tables.hpp"

#include <algorithm>

#include "model/quantity/unit_names.hpp"

namespace floorline {

namespace {

constexpr std::size_t kMostStageRows = 40;
constexpr std::size_t kMostPathRows = 40;
constexpr std::size_t kLongestPattern = 8;

std::size_t limit(const TimelineReport& r, std::size_t usual) {
  return r.top > 0 ? static_cast<std::size_t>(r.top) : usual;
}

std::string percent(double share) { return number_text(share * 100, 3) + " %"; }

std::string makespan_text(const TimelineReport& r, const std::optional<SpeedUp>& faster) {
  if (!faster) return "-";
  if (faster->deadlock) return "deadlock";
  const Seconds before = r.timeline->schedule.makespan();
  std::string text = to_text(faster->makespan);
  if (faster->anomaly) return text + " LATER";
  if (faster->makespan > Seconds(0) && faster->makespan < before)
    text += " (" + number_text(before / faster->makespan, 3) + "x)";
  return text;
}

std::string reason_text(const Pipeline& p, const IdleReason& why) {
  if (why.ended) return "no more work";
  const std::string stage = why.stage ? p.stages[index_of(*why.stage)].name : "";
  switch (why.wait) {
    case Wait::buffer_full:
      return "buffer full until " + stage + " takes an item";
    case Wait::buffer_empty:
      return "buffer empty: waiting for " + stage;
    case Wait::synchronous:
      return "synchronous call of " + stage;
    case Wait::stream:
      return "stream order after " + stage;
    case Wait::program:
      return "not issued yet (" + stage + ")";
    case Wait::credit:
      return "no free place until " + stage;
    case Wait::arrival:
      return "nothing has arrived";
    case Wait::turn:
      return "its turn after " + stage;
    case Wait::data:
      return "waiting for " + stage;
    default:
      return std::string(word(why.wait)) + (stage.empty() ? "" : ": " + stage);
  }
}

/// Consecutive steps that repeat as a pattern.
struct Folded {
  std::size_t first = 0;
  std::size_t length = 1;
  std::size_t times = 1;
};

bool alike(const PathStep& a, const PathStep& b) {
  return a.stage == b.stage && a.wait == b.wait && a.waited_for == b.waited_for;
}

std::size_t repeats_at(const std::vector<PathStep>& steps, std::size_t at, std::size_t length) {
  std::size_t times = 1;
  while (at + (times + 1) * length <= steps.size()) {
    for (std::size_t k = 0; k < length; ++k)
      if (!alike(steps[at + k], steps[at + times * length + k])) return times;
    ++times;
  }
  return times;
}

std::vector<Folded> folded(const std::vector<PathStep>& steps) {
  std::vector<Folded> all;
  for (std::size_t at = 0; at < steps.size();) {
    Folded best{at, 1, 1};
    for (std::size_t length = 1; length <= kLongestPattern; ++length) {
      const std::size_t times = repeats_at(steps, at, length);
      if (times >= 2 && times * length > best.times * best.length) best = {at, length, times};
    }
    all.push_back(best);
    at += best.length * best.times;
  }
  return all;
}

/// "0", or "0 … 9" of a folded step.
std::string items_text(const std::vector<PathStep>& steps, const Folded& f, std::size_t k) {
  const std::int64_t first = steps[f.first + k].item;
  if (f.times == 1) return std::to_string(first);
  const std::int64_t last = steps[f.first + (f.times - 1) * f.length + k].item;
  return std::to_string(first) + " … " + std::to_string(last);
}

}  // namespace

Table stage_table(const TimelineReport& r) {
  Table table;
  table.title = "Stages";
  table.columns = {{"stage", false},      {"resource", false}, {"busy", true},
                   {"on the path", true}, {"slack", true},     {"end if twice as fast", true},
                   {"end if free", true}};
  for (const GroupReport& group : r.timeline->groups) {
    if (table.rows.size() == limit(r, kMostStageRows)) {
      table.footnotes.push_back(std::to_string(r.timeline->groups.size() - table.rows.size()) +
                                " more stages");
      break;
    }
    const Stage& first = r.pipeline->stages[index_of(group.stages.front())];
    std::string name = group.name;
    if (group.stages.size() > 1) name += " (" + std::to_string(group.stages.size()) + ")";
    table.rows.push_back({name, r.pipeline->pools[index_of(first.pool)].name, to_text(group.busy),
                          to_text(group.on_path), to_text(group.slack),
                          makespan_text(r, group.twice_as_fast), makespan_text(r, group.free)});
  }
  table.footnotes.push_back(
      "slack: how much later any one of its ends may be without moving the last; the ends if "
      "faster "
      "are scheduled again");
  return table;
}

Table source_table(const TimelineReport& r) {
  Table table;
  table.title = "Where the times are from";
  table.columns = {{"stage", false}, {"time of the first item", true}, {"from", false}};
  const bool all_given = std::all_of(r.sources.begin(), r.sources.end(),
                                     [](const StageSource& s) { return s.text == "given"; });
  if (all_given) return table;
  for (const StageSource& source : r.sources) {
    for (std::uint32_t s = 0; s < r.pipeline->stages.size(); ++s) {
      if (r.pipeline->stages[s].name != source.stage) continue;
      table.rows.push_back(
          {source.stage, to_text(r.pipeline->time_of(StageId{s}, 0)), source.text});
      break;
    }
    if (table.rows.size() == limit(r, kMostStageRows)) break;
  }
  return table;
}

Table resource_table(const TimelineReport& r) {
  Table table;
  table.title = "Resources";
  table.columns = {{"resource", false},
                   {"servers", true},
                   {"busy", true},
                   {"held", true},
                   {"idle", true},
                   {"used", true},
                   {"why it does not run", false}};
  const Pipeline& p = *r.pipeline;
  for (const ResourceUse& use : r.timeline->resources) {
    const Pool& pool = p.pools[index_of(use.pool)];
    std::string why;
    for (std::size_t k = 0; k < use.why.size() && k < 3; ++k)
      why += (k > 0 ? "; " : "") + reason_text(p, use.why[k]) + " " + to_text(use.why[k].time, 3);
    table.rows.push_back({pool.name, std::to_string(pool.servers), to_text(use.busy),
                          use.held > Seconds(0) ? to_text(use.held) : "-", to_text(use.idle),
                          percent(use.utilization), why});
  }
  return table;
}

Table path_table(const TimelineReport& r) {
  Table table;
  table.title = "Critical path";
  table.columns = {
      {"stage", false}, {"item", true}, {"start", true}, {"end", true}, {"it waited for", false}};
  const std::vector<PathStep>& steps = r.timeline->critical_path.steps;
  const Schedule& s = r.timeline->schedule;
  std::size_t shown = 0;
  for (const Folded& f : folded(steps)) {
    if (table.rows.size() >= limit(r, kMostPathRows)) break;
    for (std::size_t k = 0; k < f.length; ++k) {
      const PathStep& first = steps[f.first + k];
      const PathStep& last = steps[f.first + (f.times - 1) * f.length + k];
      std::string name = r.pipeline->stages[index_of(first.stage)].name;
      if (f.times > 1) name += " x" + std::to_string(f.times);
      // Of several, the reason of the second says more than that of the first.
      const PathStep& why = f.times > 1 ? steps[f.first + f.length + k] : first;
      std::string waited = waited_for_text(*r.pipeline, why);
      if (f.times > 1) waited = waited.substr(0, waited.rfind(", item "));
      table.rows.push_back({name, items_text(steps, f, k), to_text(s.time_of(first.start)),
                            to_text(s.time_of(last.end)), waited});
    }
    shown = f.first + f.length * f.times;
  }
  if (shown < steps.size())
    table.footnotes.push_back(std::to_string(steps.size() - shown) + " more steps (--format json)");
  const Seconds waits = s.time_of(r.timeline->critical_path.waits);
  table.footnotes.push_back(
      "its times" +
      std::string(waits > Seconds(0) ? " and " + to_text(waits) + " before the first" : "") +
      " sum to " + to_text(s.makespan()));
  return table;
}

Table copy_table(const TimelineReport& r) {
  Table table;
  table.title = "Copies";
  table.columns = {{"stage", false},  {"bytes", true},      {"bandwidth", true},
                   {"latency", true}, {"bytes term", true}, {"half of the bandwidth at", true}};
  for (const StageSource& source : r.sources) {
    if (!source.copy) continue;
    const CopyFigures& c = *source.copy;
    table.rows.push_back({source.stage, to_text(c.bytes), to_text(c.bandwidth),
                          c.latency ? to_text(*c.latency) : "not known",
                          to_text(c.bytes / c.bandwidth),
                          c.latency ? to_text(*c.latency * c.bandwidth) : "-"});
  }
  table.footnotes.push_back(
      "time = latency + bytes / bandwidth; below latency x bandwidth bytes the latency is the "
      "larger "
      "part");
  return table;
}

}  // namespace floorline
