// SPDX-License-Identifier: Apache-2.0
// From a pipeline file to the scheduler's stages: names to ids, and what a host thread does when it
// issues copies and kernels.
//
// A stage with `stream`, `pinned`, `non_blocking` or `launch` is a device operation. Its host
// thread runs a program: for each item, in the order of the file, its own stages and one call an
// operation
// ("copy (call)", of the operation's launch time). The operation itself then runs on its engine
// after
//   - its call,
//   - the operation before it on the same stream (of the item before, for the first),
//   - the operations it names in `after` (an event the stream waits for, not the host).
// Stages of other threads that an operation names in `after` are waited for by the call.
//
// Copies (CUDA Runtime API, "API synchronization behavior"; PyTorch's pinned memory tutorial):
//   pageable                    the call first waits until its stream is idle, and the host goes on
//                               when the copy has ended, with non_blocking or without (the copy is
//                               staged through pinned memory by the calling thread)
//   pinned, not non_blocking    the host goes on when the copy has ended
//   pinned and non_blocking     the host goes on at once
// A kernel never holds up the host. A host stage that names an operation in `after` waits for it
// inside a call (`.item()`, a stream synchronization).
//
// Ignores: a full launch queue, the last 64 KB of a pageable copy that CUDA may still have in
// flight when the host goes on, a default stream that synchronizes with others.
#include <algorithm>
#include <map>
#include <utility>

#include "model/input/diagnostic.hpp"
#include "model/quantity/expect.hpp"
#include "model/timeline/pipeline_file.hpp"

namespace floorline {

namespace {

/// One stage of the file: the task itself, and the host's call that issues it.
struct Built {
  StageId task{};
  std::optional<StageId> call;
};

class Builder {
 public:
  Builder(const PipelineFile& file, ResolvedTimes times) : file_(file), times_(std::move(times)) {}

  Pipeline build() {
    p_.name = file_.name;
    p_.items = times_.items;
    p_.pools = file_.resources;
    p_.arrivals = std::move(times_.arrivals);
    for (std::uint32_t r = 0; r < p_.pools.size(); ++r) pool_by_name_[p_.pools[r].name] = PoolId{r};
    for (std::size_t s = 0; s < file_.stages.size(); ++s) add_stage(s);
    for (std::size_t s = 0; s < file_.stages.size(); ++s) add_dependencies(s);
    add_stream_order();
    add_host_waits();
    for (const BufferEntry& b : file_.buffers) add_buffer(b);
    return std::move(p_);
  }

 private:
  Stage& stage(StageId id) { return p_.stages[index_of(id)]; }

  void add_stage(std::size_t s) {
    const StageEntry& entry = file_.stages[s];
    Built built;
    if (entry.issued) {
      Stage call;
      call.name = entry.name + " (call)";
      call.pool = pool_by_name_.at(entry.host);
      call.time.constant = entry.launch;
      call.sequence = entry.sequence.value_or(static_cast<std::int64_t>(s));
      built.call = p_.add(std::move(call));
    }
    Stage task;
    task.name = entry.name;
    task.pool = pool_by_name_.at(entry.resource);
    task.time = std::move(times_.stages[s]);
    task.sequence = entry.sequence.value_or(static_cast<std::int64_t>(s));
    task.not_before = entry.not_before;
    task.group = entry.group;
    task.collective = entry.collective;
    built.task = p_.add(std::move(task));
    if (built.call)
      stage(built.task).after.push_back({*built.call, 0, Event::finish, DependencyKind::program});
    built_.push_back(built);
    by_name_[entry.name] = s;
  }

  void add_dependencies(std::size_t s) {
    const StageEntry& entry = file_.stages[s];
    for (const AfterEntry& after : entry.after) {
      const std::size_t before = by_name_.at(after.stage);
      const bool issued_before = file_.stages[before].issued;
      Dependency d{built_[before].task, after.distance, after.event, after.kind};
      const bool on_host = p_.pools[index_of(stage(built_[s].task).pool)].kind == PoolKind::host;
      if (issued_before && on_host && d.kind == DependencyKind::data)
        d.kind = DependencyKind::synchronous;
      const bool by_call = entry.issued && !issued_before;
      stage(by_call ? *built_[s].call : built_[s].task).after.push_back(d);
    }
  }

  /// Operations of one stream, in the order of the file; a copy from pageable memory waits for the
  /// one before it in its call as well.
  void add_stream_order() {
    std::map<std::pair<std::string, std::string>, std::vector<std::size_t>> streams;
    for (std::size_t s = 0; s < file_.stages.size(); ++s)
      if (file_.stages[s].issued)
        streams[{file_.stages[s].host, file_.stages[s].stream}].push_back(s);
    for (const auto& [name, members] : streams) {
      for (std::size_t k = 0; k < members.size(); ++k) {
        const std::size_t before = members[k == 0 ? members.size() - 1 : k - 1];
        const std::int64_t distance = k == 0 ? 1 : 0;
        const Built& here = built_[members[k]];
        stage(here.task).after.push_back(
            {built_[before].task, distance, Event::finish, DependencyKind::stream});
        if (pageable(members[k]))
          stage(*here.call)
              .after.push_back(
                  {built_[before].task, distance, Event::finish, DependencyKind::synchronous});
      }
    }
  }

  [[nodiscard]] bool is_copy(std::size_t s) const {
    const PoolKind kind = p_.pools[index_of(p_.stages[index_of(built_[s].task)].pool)].kind;
    return file_.stages[s].issued && (kind == PoolKind::h2d || kind == PoolKind::d2h);
  }
  [[nodiscard]] bool pageable(std::size_t s) const { return is_copy(s) && !file_.stages[s].pinned; }

  /// What a host thread does next waits for a copy that blocks it.
  void add_host_waits() {
    std::map<std::size_t, std::vector<std::pair<StageId, std::size_t>>> programs;
    for (std::size_t s = 0; s < built_.size(); ++s) {
      const StageId on_host = built_[s].call.value_or(built_[s].task);
      const std::size_t pool = index_of(stage(on_host).pool);
      if (p_.pools[pool].kind == PoolKind::host) programs[pool].push_back({on_host, s});
    }
    for (auto& [pool, program] : programs) {
      std::stable_sort(program.begin(), program.end(), [&](const auto& a, const auto& b) {
        return stage(a.first).sequence < stage(b.first).sequence;
      });
      for (std::size_t k = 0; k < program.size(); ++k) {
        const std::size_t s = program[k].second;
        if (!is_copy(s) || (file_.stages[s].pinned && file_.stages[s].non_blocking)) continue;
        const bool last = k + 1 == program.size();
        stage(program[last ? 0 : k + 1].first)
            .after.push_back(
                {built_[s].task, last ? 1 : 0, Event::finish, DependencyKind::synchronous});
      }
    }
  }

  /// The consumer takes the item with its call, if that is what waits for the producer.
  void add_buffer(const BufferEntry& entry) {
    const StageId producer = built_[by_name_.at(entry.producer)].task;
    const Built& consumer = built_[by_name_.at(entry.consumer)];
    const auto waits = [&](StageId id) {
      const std::vector<Dependency>& after = stage(id).after;
      return std::any_of(after.begin(), after.end(), [&](const Dependency& d) {
        return d.stage == producer && d.distance == 0 && d.event == Event::finish;
      });
    };
    if (consumer.call && waits(*consumer.call)) {
      p_.buffers.push_back({producer, *consumer.call, entry.capacity});
    } else {
      FLOORLINE_EXPECT(waits(consumer.task));
      p_.buffers.push_back({producer, consumer.task, entry.capacity});
    }
  }

  const PipelineFile& file_;
  ResolvedTimes times_;
  Pipeline p_;
  std::map<std::string, PoolId> pool_by_name_;
  std::map<std::string, std::size_t> by_name_;
  std::vector<Built> built_;
};

}  // namespace

Pipeline build_pipeline(const PipelineFile& file, ResolvedTimes times) {
  FLOORLINE_EXPECT(times.stages.size() == file.stages.size());
  return Builder(file, std::move(times)).build();
}

}  // namespace floorline
