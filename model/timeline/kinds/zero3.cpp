// SPDX-License-Identifier: Apache-2.0
#include "model/timeline/kinds/zero3.hpp"

#include <algorithm>

#include "model/timeline/kinds/kind_keys.hpp"

namespace floorline {

namespace {

constexpr std::int64_t kMostLayers = 2'000;
constexpr std::int64_t kMostLayerRuns = 200'000;  ///< steps x layers

class Builder {
 public:
  explicit Builder(const Zero3& in)
      : in_(in),
        gather_(in.collective.cost(Collective::all_gather, in.layer_weights).time()),
        scatter_(in.collective.cost(Collective::reduce_scatter, in.layer_gradients).time()) {}

  Pipeline pipeline() {
    out_.name = "ZeRO-3 step";
    out_.items = in_.steps;
    gpu_ = out_.add(Pool{.name = "gpu", .kind = PoolKind::gpu, .queue = Queue::in_order});
    link_ = out_.add(Pool{.name = "link", .kind = PoolKind::link});
    const std::int64_t uses = 2 * in_.layers;
    for (std::int64_t k = 0; k < uses; ++k) add_use(k);
    std::vector<Dependency> ended = {{uses_.back()}};
    for (std::int64_t k = in_.layers; k < uses; ++k) ended.push_back({add_scatter(k)});
    Stage optimizer{.name = "optimizer", .pool = gpu_, .time = {in_.optimizer, {}}};
    optimizer.after = std::move(ended);
    optimizer.sequence = uses;
    const StageId last = out_.add(std::move(optimizer));
    for (std::int64_t k = 0; k < std::min(uses, in_.prefetch + 1); ++k)
      out_.stages[index_of(gathers_[static_cast<std::size_t>(k)])].after.push_back({last, 1});
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::string numbered(const char* what, std::int64_t use) const {
    return what + std::to_string(use < in_.layers ? use : 2 * in_.layers - 1 - use);
  }

  void add_use(std::int64_t k) {
    const bool backward = k >= in_.layers;
    Stage gather{.name = numbered(backward ? "gather_backward " : "gather_forward ", k),
                 .pool = link_,
                 .time = {gather_, {}}};
    gather.group = "all_gather";
    gather.collective = true;
    if (k > in_.prefetch) {
      gather.after.push_back({uses_[static_cast<std::size_t>(k - in_.prefetch - 1)], 0,
                              Event::finish, DependencyKind::credit});
    }
    if (k > 0) gather.after.push_back({gathers_.back(), 0, Event::finish, DependencyKind::stream});
    gathers_.push_back(out_.add(std::move(gather)));
    Stage use{.name = numbered(backward ? "backward " : "forward ", k),
              .pool = gpu_,
              .time = {backward ? in_.backward : in_.forward, {}},
              .after = {{gathers_.back()}}};
    use.group = backward ? "backward" : "forward";
    use.sequence = k;
    if (k > 0) use.after.push_back({uses_.back()});
    uses_.push_back(out_.add(std::move(use)));
  }

  StageId add_scatter(std::int64_t k) {
    Stage scatter{.name = numbered("reduce_scatter ", k), .pool = link_, .time = {scatter_, {}}};
    scatter.after.push_back({uses_[static_cast<std::size_t>(k)]});
    scatter.group = "reduce_scatter";
    scatter.collective = true;
    return out_.add(std::move(scatter));
  }

  const Zero3& in_;
  Seconds gather_, scatter_;
  Pipeline out_;
  PoolId gpu_{}, link_{};
  std::vector<StageId> gathers_, uses_;
};

Seconds compute_time(const Zero3& in) {
  return static_cast<double>(in.layers) * (in.forward + in.backward) + in.optimizer;
}

std::vector<Fact> facts_of(const Zero3& in, const Schedule& schedule) {
  const Seconds period = item_period(schedule);
  if (!(period > Seconds(0))) return {};
  const Seconds exposed = std::max(Seconds(0), period - compute_time(in));
  return {time_fact("step_s", "one step", period),
          time_fact("exposed_communication_s", "exposed communication a step", exposed),
          share_fact("exposed_share", "exposed share of the step", exposed / period)};
}

}  // namespace

Zero3 read_zero3(TableReader& table, std::vector<std::string>& assumptions) {
  Zero3 in;
  in.steps = count_key(table, "steps", {3, 100'000, 4});
  in.layers = required_count(table, "layers", 1, kMostLayers);
  if (in.steps * in.layers > kMostLayerRuns) {
    table.error("steps", "times layers is " + std::to_string(in.steps * in.layers) +
                             "; expected at most " + std::to_string(kMostLayerRuns));
  }
  in.prefetch = count_key(table, "prefetch", {0, 2 * kMostLayers, 1});
  in.forward = required_time(table, "forward_time_per_layer");
  in.backward = required_time(table, "backward_time_per_layer");
  in.optimizer = time_or_zero(table, "optimizer_time", "the optimizer takes no time", assumptions);
  in.layer_weights = required_bytes(table, "layer_bytes");
  const std::optional<Bytes> gradients = table.quantity<Bytes>("gradient_bytes_per_layer");
  if (!gradients) assumptions.emplace_back("a layer's gradients have as many bytes as its weights");
  in.layer_gradients = gradients.value_or(in.layer_weights);
  in.collective = read_collective_keys(table);
  return in;
}

BuiltKind build(const Zero3& in) {
  BuiltKind kind;
  kind.kind = "zero3";
  kind.pipeline = Builder(in).pipeline();
  const auto n = static_cast<double>(in.layers);
  const Seconds link =
      2 * n * in.collective.cost(Collective::all_gather, in.layer_weights).time() +
      n * in.collective.cost(Collective::reduce_scatter, in.layer_gradients).time();
  kind.facts = {time_fact("compute_per_step_s", "compute per step", compute_time(in)),
                time_fact("communication_per_step_s", "communication per step", link)};
  kind.after = [in](const Pipeline&, const Schedule& schedule) { return facts_of(in, schedule); };
  return kind;
}

}  // namespace floorline
