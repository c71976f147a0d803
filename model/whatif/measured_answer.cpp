// SPDX-License-Identifier: Apache-2.0
// What a measured time of the run before a change says of the change.
#include <algorithm>

#include "model/floor/measured.hpp"
#include "model/whatif/whatif.hpp"

namespace floorline {

namespace {

constexpr double kFarAbove = 2;  // design §11: above twice the floor the claimed limit is not it
constexpr double kManyKernels = 20;  // from here on launches come before the kernels themselves

/// A rate of tokens is that of the slowest stage, a time that of all of them.
Seconds serial_of(const Outcome& outcome, bool token_rate) {
  if (token_rate && outcome.model) return outcome.model->judging.throughput_serial;
  return outcome.whole.serial.cold;
}

std::optional<Seconds> launch_time(const Outcome& outcome) {
  if (!outcome.machine) return std::nullopt;
  for (const OverheadSpec& o : outcome.machine->device.overheads) {
    if (o.name == "kernel_launch" && o.time) return o.time->value;
  }
  return std::nullopt;
}

/// What to look at before bytes: launches and the host where there are many kernels, else the
/// kernel.
std::vector<std::string> look_first(const Outcome& before, Seconds time, Seconds serial) {
  std::vector<std::string> lines;
  const double kernels = launches_of(before);
  const Seconds above = time - serial;
  if (kernels >= kManyKernels) {
    std::string line = "host and launches: " + to_text(above) + " above the floor are " +
                       to_text(above / kernels) + " for each of " + count_text(kernels) +
                       " kernels";
    if (const auto launch = launch_time(before))
      line += "; back-to-back launches take " + to_text(*launch);
    lines.push_back(line + ". Capture the step in a graph (or compile it) before changing bytes");
  } else {
    lines.push_back("the kernel itself: bandwidth reached, occupancy, tail of the last wave");
  }
  lines.push_back(
      "clocks of the run (--sm-clock, --mem-clock-scale), and whether the time covers "
      "this work only");
  return lines;
}

/// The cold floor that `bound` judges by: kernels may overlap, one kernel runs by itself.
Seconds cold_of(const Outcome& outcome, bool token_rate) {
  if (outcome.model) {
    const ModelJudging& j = outcome.model->judging;
    return token_rate ? j.throughput.cold : j.latency.cold;
  }
  const GraphFloors& f = outcome.evaluation.floors;
  const bool one = f.ops.size() == 1 && f.ops.front().times == 1;
  return one ? f.ops.front().cold.time() : f.fused.cold;
}

double tokens_of(const Outcome& outcome) {
  return outcome.model ? outcome.model->judging.tokens : 0;
}

}  // namespace

MeasuredAnswer answer_measured(const Outcome& before, const Outcome& after,
                               const MeasuredTimes& measured) {
  const Seconds time = *measured.whole;
  const bool rate = measured.token_rate;
  MeasuredAnswer m;
  m.time = time;
  m.floor_before = proven_floor(before, rate);
  m.floor_after = proven_floor(after, rate);
  m.impossible = m.floor_before && time < *m.floor_before;
  const Measured judged =
      judge(time, cold_of(before, rate), m.floor_before, before.evaluation.floors.proven);
  m.warm = judged.verdict == MeasuredVerdict::warm;
  if (m.floor_after && !m.impossible) m.speedup_at_most = time / *m.floor_after;
  if (m.speedup_at_most && tokens_of(before) > 0 && tokens_of(after) != tokens_of(before))
    m.token_speedup_at_most = *m.speedup_at_most * tokens_of(after) / tokens_of(before);
  const Seconds serial = serial_of(before, rate);
  if (serial > Seconds(0)) m.over_serial = time / serial;
  // What a router makes likely is no floor of this step, but no surprise either.
  const auto& uniform = before.evaluation.uniform;
  const Seconds likely = uniform ? std::max(serial, uniform->serial.cold) : serial;
  m.far_above = likely > Seconds(0) && time / likely > kFarAbove;
  if (m.far_above) m.look_first = look_first(before, time, likely);
  const Seconds expected = time - (serial - serial_of(after, rate));
  const bool sound = !m.floor_after || expected >= *m.floor_after;
  const bool moves = serial_of(after, rate) != serial;
  if (moves && time >= serial && expected > Seconds(0) && sound) m.expected = expected;
  return m;
}

}  // namespace floorline
