// SPDX-License-Identifier: Apache-2.0
#include "model/report/chrome_trace.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "model/input/diagnostic.hpp"
#include "model/report/utf8.hpp"

namespace floorline {

namespace {

using Ordered = nlohmann::ordered_json;

/// Words that profilers' own traces use, so that tools which read those read this.
const char* category(const Pool& pool, const Stage& stage) {
  if (stage.collective) return "kernel";
  switch (pool.kind) {
    case PoolKind::gpu:
      return "kernel";
    case PoolKind::h2d:
    case PoolKind::d2h:
    case PoolKind::link:
      return "gpu_memcpy";
    case PoolKind::host:
      return "cuda_runtime";
    default:
      return "cpu_op";
  }
}

class Trace {
 public:
  explicit Trace(const TimelineReport& report)
      : r_(report), p_(*report.pipeline), s_(report.timeline->schedule) {
    for (const StageSource& source : report.sources) source_[source.stage] = source.text;
  }

  std::string text() {
    out_ = "{\n\"displayTimeUnit\": \"ms\",\n\"traceEvents\": [\n";
    name_tracks();
    for (const TaskId task : s_.order) add_task(task);
    add_arrows();
    out_ += "\n]\n}\n";
    return std::move(out_);
  }

 private:
  void event(const Ordered& json) {
    if (!first_) out_ += ",\n";
    first_ = false;
    out_ += json.dump(-1, ' ', false, Ordered::error_handler_t::replace);
  }
  /// The same with ts, and dur if it is not below zero, written as N.NNN.
  void timed(Ordered json, std::int64_t ns, std::int64_t duration) {
    std::string text = json.dump(-1, ' ', false, Ordered::error_handler_t::replace);
    text.pop_back();
    text += ",\"ts\":" + microseconds_text(ns);
    if (duration >= 0) text += ",\"dur\":" + microseconds_text(duration);
    if (!first_) out_ += ",\n";
    first_ = false;
    out_ += text + "}";
  }
  static std::string microseconds_text(std::int64_t ns) {
    std::string fraction = std::to_string(ns % 1000);
    fraction.insert(0, 3 - fraction.size(), '0');
    return std::to_string(ns / 1000) + "." + fraction;
  }
  [[nodiscard]] std::int64_t nanoseconds(Ticks ticks) const {
    return std::llround(s_.time_of(ticks).in_base_units() * 1e9);
  }

  /// Tracks in the order of the resources, each with its servers that ever ran something.
  void name_tracks() {
    std::vector<std::uint32_t> lanes(p_.pools.size(), 0);
    for (std::size_t t = 0; t < s_.server.size(); ++t) {
      std::uint32_t& n = lanes[index_of(p_.stages[t % s_.stages].pool)];
      n = std::max(n, s_.server[t] + 1);
    }
    event({{"ph", "M"},
           {"pid", 1},
           {"tid", 0},
           {"name", "process_name"},
           {"args", {{"name", "floorline timeline (predicted)"}}}});
    int tid = 1;
    for (std::size_t r = 0; r < p_.pools.size(); ++r) {
      first_tid_.push_back(tid);
      for (std::uint32_t k = 0; k < lanes[r]; ++k, ++tid) {
        const std::string name = p_.pools[r].name + (lanes[r] > 1 ? " " + std::to_string(k) : "");
        event({{"ph", "M"},
               {"pid", 1},
               {"tid", tid},
               {"name", "thread_name"},
               {"args", {{"name", well_formed(name)}}}});
        event({{"ph", "M"},
               {"pid", 1},
               {"tid", tid},
               {"name", "thread_sort_index"},
               {"args", {{"sort_index", tid}}}});
      }
    }
  }

  [[nodiscard]] int tid_of(TaskId task) const {
    const std::size_t pool = index_of(p_.stages[index_of(s_.stage_of(task))].pool);
    return first_tid_[pool] + static_cast<int>(s_.server[static_cast<std::size_t>(task)]);
  }

  void add_task(TaskId task) {
    const auto t = static_cast<std::size_t>(task);
    const Stage& stage = p_.stages[index_of(s_.stage_of(task))];
    const Pool& pool = p_.pools[index_of(stage.pool)];
    const int tid = tid_of(task);
    Ordered about{{"item", s_.item_of(task)}, {"waited_for", std::string(word(s_.cause[t].wait))}};
    const auto source = source_.find(stage.name);
    if (source != source_.end()) about["source"] = well_formed(source->second);
    Ordered args{{"floorline", about}};
    if (pool.kind == PoolKind::gpu || pool.kind == PoolKind::h2d || pool.kind == PoolKind::d2h)
      args["stream"] = tid;
    const std::int64_t from = nanoseconds(s_.start[t]);
    const std::int64_t to = nanoseconds(s_.end[t]);
    timed({{"ph", "X"},
           {"pid", 1},
           {"tid", tid},
           {"name", well_formed(stage.name)},
           {"cat", category(pool, stage)},
           {"args", args}},
          from, to - from);
    if (s_.release.empty() || s_.release[t] <= s_.end[t]) return;
    timed({{"ph", "X"}, {"pid", 1}, {"tid", tid}, {"name", "held: buffer full"}, {"cat", "held"}},
          to, nanoseconds(s_.release[t]) - to);
  }

  /// From the last ns of a step to the start of the next; zero-length steps at their instant.
  void add_arrows() {
    const std::vector<PathStep>& steps = r_.timeline->critical_path.steps;
    for (std::size_t k = 1; k < steps.size(); ++k) {
      const PathStep& from = steps[k - 1];
      const PathStep& to = steps[k];
      const std::int64_t begin = nanoseconds(from.start);
      const std::int64_t end = std::max(begin, nanoseconds(from.end) - 1);
      const auto arrow = [&](const char* phase, const PathStep& step) {
        Ordered json{{"ph", phase},
                     {"pid", 1},
                     {"tid", tid_of(s_.task(step.stage, step.item))},
                     {"name", "critical path"},
                     {"cat", "critical_path"},
                     {"id", k}};
        if (*phase == 'f') json["bp"] = "e";
        return json;
      };
      timed(arrow("s", from), end, -1);
      timed(arrow("f", to), nanoseconds(to.start), -1);
    }
  }

  const TimelineReport& r_;
  const Pipeline& p_;
  const Schedule& s_;
  std::map<std::string, std::string> source_;
  std::vector<int> first_tid_;
  std::string out_;
  bool first_ = true;
};

}  // namespace

std::string chrome_trace(const TimelineReport& report) {
  const std::size_t tasks = report.timeline->schedule.order.size();
  if (tasks > kMostTasksWritten)
    throw InputError(Diagnostic{position_in("command line"), "--trace",
                                std::to_string(tasks) + " steps are more than " +
                                    std::to_string(kMostTasksWritten) + "; expected fewer items"});
  return Trace(report).text();
}

}  // namespace floorline
