// SPDX-License-Identifier: Apache-2.0
#include "model/timeline/kinds/data_loading.hpp"

#include <algorithm>
#include <cmath>

#include "model/timeline/kinds/kind_keys.hpp"

namespace floorline {

namespace {

constexpr std::int64_t kMostBatches = 1'000'000;
constexpr std::int64_t kMostWorkers = 4096;

/// copy_time, or batch_bytes over the link that pin_memory picks; neither: no copy.
std::optional<Seconds> copy_time(TableReader& table, bool pinned) {
  const std::optional<Seconds> given = table.quantity<Seconds>("copy_time");
  const std::optional<Bytes> bytes = table.quantity<Bytes>("batch_bytes");
  const std::optional<BytesPerSecond> fast = table.quantity<BytesPerSecond>("pinned_bandwidth");
  const std::optional<BytesPerSecond> slow = table.quantity<BytesPerSecond>("pageable_bandwidth");
  const Seconds latency = table.quantity<Seconds>("copy_latency").value_or(Seconds(0));
  if (given && bytes) table.error("copy_time", "stands beside batch_bytes; expected one of them");
  if (given || !bytes) return given;
  const char* key = pinned ? "pinned_bandwidth" : "pageable_bandwidth";
  const std::optional<BytesPerSecond>& rate = pinned ? fast : slow;
  if (rate && *rate > BytesPerSecond(0)) return latency + *bytes / *rate;
  table.error("batch_bytes", std::string("needs ") + key + " above zero, such as \"12 GB/s\"");
  return std::nullopt;
}

class Builder {
 public:
  explicit Builder(const DataLoading& loading) : in_(loading) {}

  Pipeline pipeline() {
    out_.name = "data loading";
    out_.items = in_.batches;
    host_ = out_.add(Pool{.name = "host", .kind = PoolKind::host, .queue = Queue::in_order});
    loaded_ = add_load();
    if (in_.pin_memory) loaded_ = add_pin();
    add_take();
    if (in_.copy) add_copy();
    add_step();
    add_waits();
    return std::move(out_);
  }

 private:
  StageId add_load() {
    PoolId pool = host_;
    if (in_.num_workers > 0) {
      pool = out_.add(Pool{.name = "workers",
                           .servers = in_.num_workers,
                           .kind = PoolKind::cpu,
                           .scaling_efficiency = in_.scaling_efficiency});
    }
    return out_.add(Stage{.name = "load", .pool = pool, .time = {in_.load, {}}, .sequence = 0});
  }

  StageId add_pin() {
    PoolId pool = host_;
    if (in_.num_workers > 0) {
      pool = out_.add(Pool{.name = "pin_thread", .kind = PoolKind::cpu, .queue = Queue::in_order});
    }
    return out_.add(Stage{
        .name = "pin", .pool = pool, .time = {in_.pin, {}}, .after = {{loaded_}}, .sequence = 1});
  }

  void add_take() {
    take_ = out_.add(
        Stage{.name = "take", .pool = host_, .time = {}, .after = {{loaded_}}, .sequence = 2});
    if (in_.num_workers == 0) return;
    const std::int64_t ahead = in_.num_workers * in_.prefetch_factor;
    out_.stages[0].after.push_back({take_, ahead, Event::finish, DependencyKind::credit});
  }

  void add_copy() {
    const PoolId engine =
        out_.add(Pool{.name = "h2d", .kind = PoolKind::h2d, .queue = Queue::in_order});
    copy_ = out_.add(
        Stage{.name = "copy", .pool = engine, .time = {*in_.copy, {}}, .after = {{take_}}});
  }

  void add_step() {
    const PoolId gpu =
        out_.add(Pool{.name = "gpu", .kind = PoolKind::gpu, .queue = Queue::in_order});
    Stage launch{.name = "launch",
                 .pool = host_,
                 .time = {in_.launch, {}},
                 .after = {{take_, 0, Event::finish, DependencyKind::program}},
                 .sequence = 3};
    const bool host_blocked = in_.copy && !(in_.pin_memory && in_.non_blocking);
    if (host_blocked)
      launch.after.push_back({*copy_, 0, Event::finish, DependencyKind::synchronous});
    launch_ = out_.add(std::move(launch));
    Stage step{.name = "step", .pool = gpu, .time = {in_.step, {}}, .after = {{launch_}}};
    if (copy_) step.after.push_back({*copy_});
    step_ = out_.add(std::move(step));
  }

  /// What waits for the step of the batch before.
  void add_waits() {
    if (copy_ && !in_.copy_stream) {
      out_.stages[index_of(*copy_)].after.push_back(
          {step_, 1, Event::finish, DependencyKind::stream});
    }
    if (!in_.synchronize) return;
    const StageId next = in_.num_workers > 0 ? take_ : StageId{0};
    out_.stages[index_of(next)].after.push_back(
        {step_, 1, Event::finish, DependencyKind::synchronous});
  }

  const DataLoading& in_;
  Pipeline out_;
  PoolId host_{};
  StageId loaded_{}, take_{}, launch_{}, step_{};
  std::optional<StageId> copy_;
};

/// How many workers the rest of the loop can use: the least n with load / (n efficiency) <= period
/// of everything else.
std::vector<Fact> workers_needed(const DataLoading& in, const Pipeline& pipeline) {
  const Seconds rest = period_without(pipeline, "load");
  std::vector<Fact> facts{time_fact("period_without_loading_s", "period, loading free", rest)};
  if (!(rest > Seconds(0)) || !(in.load > Seconds(0))) return facts;
  const double needed = std::ceil(in.load / (in.scaling_efficiency * rest) * (1 - 1e-12));
  if (needed <= 1e9) {
    facts.push_back(count_fact("workers_needed", "workers that hide loading",
                               std::max<std::int64_t>(1, static_cast<std::int64_t>(needed))));
  }
  return facts;
}

}  // namespace

DataLoading read_data_loading(TableReader& table, std::vector<std::string>& assumptions) {
  DataLoading in;
  in.batches = count_key(table, "batches", {1, kMostBatches, 100});
  in.num_workers = required_count(table, "num_workers", 0, kMostWorkers);
  in.prefetch_factor = count_key(table, "prefetch_factor", {1, 100'000, 2});
  in.scaling_efficiency = share_key(table, "scaling_efficiency", 1);
  if (in.num_workers > 1 && !table.has("scaling_efficiency"))
    assumptions.emplace_back("a pool of n workers loads n times as fast as one");
  in.load = required_time(table, "load_time") +
            table.quantity<Seconds>("collate_time").value_or(Seconds(0));
  in.pin_memory = table.flag("pin_memory").value_or(false);
  const std::optional<Seconds> pin = table.quantity<Seconds>("pin_time");
  if (in.pin_memory && !pin)
    assumptions.emplace_back("copying a batch to pinned memory takes no time");
  in.pin = pin.value_or(Seconds(0));
  in.non_blocking = table.flag("non_blocking").value_or(false);
  in.copy_stream = table.flag("copy_stream").value_or(false);
  in.copy = copy_time(table, in.pin_memory);
  if (!in.copy) assumptions.emplace_back("no copy to the device");
  in.launch =
      time_or_zero(table, "launch_time", "launching a step takes the host no time", assumptions);
  in.step = required_time(table, "step_time");
  in.synchronize = table.flag("synchronize").value_or(false);
  return in;
}

BuiltKind build(const DataLoading& loading) {
  BuiltKind kind;
  kind.kind = "data_loading";
  kind.pipeline = Builder(loading).pipeline();
  if (loading.non_blocking && !loading.pin_memory) {
    kind.notes.emplace_back(
        "non_blocking without pin_memory: the copy is staged and the host is blocked all the same");
  }
  kind.after = [loading](const Pipeline& pipeline, const Schedule&) {
    return workers_needed(loading, pipeline);
  };
  return kind;
}

}  // namespace floorline
