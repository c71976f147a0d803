// SPDX-License-Identifier: Apache-2.0
#include "model/timeline/kinds/training_step.hpp"

#include <algorithm>
#include <cmath>

#include "model/timeline/kinds/kind_keys.hpp"

namespace floorline {

namespace {

constexpr std::int64_t kMostLayers = 2'000;
constexpr double kMostBuckets = 20'000;
constexpr double kMostStageRuns = 200'000;  ///< steps x (layers + buckets)

double bucket_count(const TrainingStep& in) {
  return std::max(1.0, std::ceil(in.gradients / in.bucket * (1 - 1e-12)));
}

class Builder {
 public:
  explicit Builder(const TrainingStep& in) : in_(in) {}

  Pipeline pipeline() {
    out_.name = "training step";
    out_.items = in_.steps;
    gpu_ = out_.add(Pool{.name = "gpu", .kind = PoolKind::gpu, .queue = Queue::in_order});
    link_ = out_.add(Pool{.name = "link", .kind = PoolKind::link, .queue = Queue::in_order});
    const StageId forward = on_gpu("forward", in_.forward, "forward");
    add_backward(forward);
    std::vector<Dependency> before_optimizer = {{backward_.back()}};
    if (in_.collective.ranks > 1 && in_.gradients > Bytes(0))
      before_optimizer.push_back({add_buckets()});
    const StageId optimizer = on_gpu("optimizer", in_.optimizer, "optimizer");
    out_.stages[index_of(optimizer)].after = std::move(before_optimizer);
    out_.stages[index_of(forward)].after.push_back({optimizer, 1});
    return std::move(out_);
  }

 private:
  StageId on_gpu(std::string name, Seconds time, const char* group) {
    return out_.add(Stage{.name = std::move(name),
                          .pool = gpu_,
                          .time = {time, {}},
                          .sequence = ++order_,
                          .group = group});
  }

  void add_backward(StageId forward) {
    const Seconds one = in_.backward / static_cast<double>(in_.layers);
    StageId before = forward;
    for (std::int64_t layer = in_.layers - 1; layer >= 0; --layer) {
      const StageId stage = on_gpu("backward " + std::to_string(layer), one, "backward");
      out_.stages[index_of(stage)].after.push_back({before});
      backward_.push_back(stage);
      before = stage;
    }
  }

  /// The last one.
  StageId add_buckets() {
    const double buckets = bucket_count(in_);
    const auto layers = static_cast<double>(in_.layers);
    StageId last{};
    for (double k = 0; k < buckets; ++k) {
      const Bytes end = std::min((k + 1) * in_.bucket, in_.gradients);
      const double done = std::ceil(end / in_.gradients * layers * (1 - 1e-12));
      const auto layer = static_cast<std::size_t>(std::clamp(done, 1.0, layers)) - 1;
      const StageId ready = in_.overlap ? backward_[layer] : backward_.back();
      const CollectiveCost cost = in_.collective.cost(Collective::all_reduce, end - k * in_.bucket);
      last = out_.add(Stage{.name = "all_reduce " + std::to_string(static_cast<std::int64_t>(k)),
                            .pool = link_,
                            .time = {cost.time(), {}},
                            .after = {{ready}},
                            .sequence = static_cast<std::int64_t>(k),
                            .group = "all_reduce",
                            .collective = true});
    }
    return last;
  }

  const TrainingStep& in_;
  Pipeline out_;
  PoolId gpu_{}, link_{};
  std::int64_t order_ = 0;
  std::vector<StageId> backward_;
};

std::vector<Fact> facts_of(const TrainingStep& in, const Schedule& schedule) {
  const Seconds period = item_period(schedule);
  const Seconds compute = in.forward + in.backward + in.optimizer;
  if (!(period > Seconds(0))) return {};
  const Seconds exposed = std::max(Seconds(0), period - compute);
  const double share = exposed / period;
  std::vector<Fact> facts{
      time_fact("step_s", "one step", period),
      time_fact("exposed_communication_s", "exposed communication a step", exposed),
      share_fact("exposed_share", "exposed share of the step", share)};
  if (in.mfu) facts.push_back(share_fact("mfu", "MFU with communication", *in.mfu * (1 - share)));
  return facts;
}

}  // namespace

TrainingStep read_training_step(TableReader& table, std::vector<std::string>& assumptions) {
  TrainingStep in;
  in.steps = count_key(table, "steps", {3, 100'000, 4});
  in.layers = required_count(table, "layers", 1, kMostLayers);
  in.forward = required_time(table, "forward_time");
  in.backward = required_time(table, "backward_time");
  in.optimizer = time_or_zero(table, "optimizer_time", "the optimizer takes no time", assumptions);
  in.gradients = required_bytes(table, "gradient_bytes");
  in.bucket = table.quantity<Bytes>("bucket_bytes").value_or(MiB(25));
  if (!table.has("bucket_bytes"))
    assumptions.emplace_back("buckets of 25 MiB, the default of PyTorch's DistributedDataParallel");
  in.overlap = table.flag("overlap").value_or(true);
  in.collective = read_collective_keys(table);
  if (table.has("mfu")) in.mfu = share_key(table, "mfu", 1);
  if (!(in.bucket > Bytes(0)) || in.gradients / in.bucket > kMostBuckets) {
    table.error("bucket_bytes", "makes more than 20000 buckets of gradient_bytes");
    in.bucket = std::max(in.gradients, Bytes(1));
  }
  const double tasks =
      static_cast<double>(in.steps) * (static_cast<double>(in.layers) + bucket_count(in));
  if (tasks > kMostStageRuns) {
    table.error("steps", "times layers and buckets is " +
                             std::to_string(static_cast<std::int64_t>(tasks)) +
                             "; expected at most 200000");
  }
  return in;
}

BuiltKind build(const TrainingStep& in) {
  BuiltKind kind;
  kind.kind = "training_step";
  kind.pipeline = Builder(in).pipeline();
  const Seconds whole = in.collective.cost(Collective::all_reduce, in.gradients).time();
  kind.facts = {count_fact("buckets", "buckets", static_cast<std::int64_t>(bucket_count(in))),
                time_fact("one_all_reduce_s", "all gradients in one all_reduce", whole)};
  kind.after = [in](const Pipeline&, const Schedule& schedule) { return facts_of(in, schedule); };
  return kind;
}

}  // namespace floorline
