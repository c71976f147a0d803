// SPDX-License-Identifier: Apache-2.0
#include "model/timeline/kinds/launch_bound.hpp"

#include <algorithm>

#include "model/timeline/kinds/kind_keys.hpp"

namespace floorline {

namespace {

constexpr std::int64_t kMostKernels = 20'000;
constexpr std::int64_t kMostKernelRuns = 200'000;  ///< steps x kernels

class Builder {
 public:
  explicit Builder(const LaunchBound& in) : in_(in) {}

  Pipeline pipeline() {
    out_.name = "launch-bound step";
    out_.items = in_.steps;
    host_ = out_.add(Pool{.name = "host", .kind = PoolKind::host, .queue = Queue::in_order});
    gpu_ = out_.add(Pool{.name = "gpu", .kind = PoolKind::gpu, .queue = Queue::in_order});
    if (in_.graph) {
      add_graph();
    } else {
      add_eager();
    }
    return std::move(out_);
  }

 private:
  StageId on_host(const std::string& name, Seconds time, const char* group) {
    Stage stage{.name = name, .pool = host_, .time = {time, {}}, .sequence = ++host_order_};
    stage.group = group;
    return out_.add(std::move(stage));
  }
  StageId on_gpu(std::int64_t k, Seconds time, StageId launched) {
    return out_.add(Stage{.name = "kernel " + std::to_string(k),
                          .pool = gpu_,
                          .time = {time, {}},
                          .after = {{launched}},
                          .sequence = k,
                          .group = "kernel"});
  }
  void add_wait(StageId kernel) {
    const StageId wait =
        on_host("synchronize " + std::to_string(++waits_), in_.synchronization, "synchronize");
    out_.stages[index_of(wait)].after.push_back(
        {kernel, 0, Event::finish, DependencyKind::synchronous});
  }

  void add_graph() {
    const StageId launch = on_host("graph_launch", in_.graph_launch, "launch");
    StageId last{};
    for (std::int64_t k = 0; k < in_.kernels; ++k) last = on_gpu(k, in_.kernel + in_.node, launch);
    if (in_.synchronizations > 0) add_wait(last);
  }

  void add_eager() {
    std::vector<StageId> launches;
    std::vector<StageId> kernels;
    for (std::int64_t k = 0; k < in_.kernels; ++k) {
      launches.push_back(on_host("launch " + std::to_string(k), in_.launch, "launch"));
      kernels.push_back(on_gpu(k, in_.kernel, launches.back()));
      // The s-th of S waits stands after kernel ceil(s n / S).
      if ((k + 1) * in_.synchronizations / in_.kernels > k * in_.synchronizations / in_.kernels)
        add_wait(kernels.back());
    }
    for (std::int64_t k = 0; k < in_.kernels; ++k) {
      const std::int64_t back = k - in_.queue_depth;
      const std::int64_t steps_back = back >= 0 ? 0 : (-back + in_.kernels - 1) / in_.kernels;
      const auto freed = static_cast<std::size_t>(back + steps_back * in_.kernels);
      out_.stages[index_of(launches[static_cast<std::size_t>(k)])].after.push_back(
          {kernels[freed], steps_back, Event::start, DependencyKind::credit});
    }
  }

  const LaunchBound& in_;
  Pipeline out_;
  PoolId host_{}, gpu_{};
  std::int64_t host_order_ = 0;
  int waits_ = 0;
};

Seconds step_with(LaunchBound in, bool graph) {
  in.graph = graph;
  ScheduleOptions options;
  options.record = false;
  return item_period(make_schedule(Builder(in).pipeline(), options));
}

std::vector<Fact> facts_of(const LaunchBound& in) {
  const Seconds kernels = static_cast<double>(in.kernels) * in.kernel;
  std::vector<Fact> facts;
  const Seconds eager = step_with(in, false);
  facts.push_back(time_fact("eager_step_s", "step, eager launches", eager));
  if (eager > Seconds(0))
    facts.push_back(share_fact("gpu_busy_share_eager", "GPU busy, eager", kernels / eager));
  if (!in.graph_known) return facts;
  const Seconds graph = step_with(in, true);
  facts.push_back(time_fact("graph_step_s", "step, graph", graph));
  if (graph > Seconds(0)) {
    facts.push_back(share_fact("gpu_busy_share_graph", "GPU busy, graph", kernels / graph));
    facts.push_back(factor_fact("graph_speedup", "a graph buys", eager / graph));
  }
  return facts;
}

}  // namespace

LaunchBound read_launch_bound(TableReader& table, std::vector<std::string>& assumptions) {
  LaunchBound in;
  in.steps = count_key(table, "steps", {3, 100'000, 4});
  in.kernels = required_count(table, "kernels", 1, kMostKernels);
  if (in.steps * in.kernels > kMostKernelRuns) {
    table.error("steps", "times kernels is " + std::to_string(in.steps * in.kernels) +
                             "; expected at most " + std::to_string(kMostKernelRuns));
    in.kernels = 1;
    in.steps = 3;
  }
  const std::optional<Seconds> all = table.quantity<Seconds>("gpu_time");
  const std::optional<Seconds> one = table.quantity<Seconds>("kernel_time");
  if (all.has_value() == one.has_value()) {
    table.error("kernel_time", all ? "stands beside gpu_time; expected one of them"
                                   : "missing; expected kernel_time, of one kernel, or gpu_time, "
                                     "of a step's kernels together");
  }
  in.kernel = one.value_or(all.value_or(Seconds(0)) / static_cast<double>(in.kernels));
  in.launch = required_time(table, "launch_time");
  in.graph = table.flag("graph").value_or(false);
  const std::optional<Seconds> graph_launch = table.quantity<Seconds>("graph_launch_time");
  in.graph_known = graph_launch.has_value();
  if (in.graph && !in.graph_known)
    table.error("graph", "needs graph_launch_time, the host time of one replay");
  in.graph_launch = graph_launch.value_or(Seconds(0));
  const std::optional<Seconds> node = table.quantity<Seconds>("node_time");
  if (in.graph_known && !node)
    assumptions.emplace_back("kernels of a graph follow each other without a gap");
  in.node = node.value_or(Seconds(0));
  in.synchronizations = count_key(table, "synchronizations", {0, in.kernels, 1});
  in.synchronization = table.quantity<Seconds>("synchronization_time").value_or(Seconds(0));
  in.queue_depth = count_key(table, "queue_depth", {1, 1'000'000, 1024});
  return in;
}

BuiltKind build(const LaunchBound& in) {
  BuiltKind kind;
  kind.kind = "launch_bound";
  kind.pipeline = Builder(in).pipeline();
  if (in.graph && in.synchronizations > 1)
    kind.notes.emplace_back("a graph waits at its end only; the other synchronizations are gone");
  kind.after = [in](const Pipeline&, const Schedule&) { return facts_of(in); };
  return kind;
}

}  // namespace floorline
