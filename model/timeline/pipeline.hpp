// SPDX-License-Identifier: Apache-2.0
// Stages on resources through which N items flow, or any graph of tasks (items = 1, a task a
// stage). Plain data: whoever builds a pipeline fills it, schedule.hpp places it in time.
//
// One task is one (stage, item). It may start when all its dependencies are met, its item has
// arrived, and its resource has a free server and picks it. It then runs to its end; nothing is
// preempted.
//
// Blocking rule of buffers: blocking after service. A task that has ended keeps its server until
// each of its buffers has room, or until the consumer takes the item straight from it; the room is
// given back when the consumer STARTS the item. That is how a worker with a full queue, or a CUDA
// stage with no free staging buffer, behaves: the work is done before the place is known to lack.
// Capacity 0 is a rendezvous: the producer keeps its server until the consumer starts.
// A rule by credits (no start before a place is free) is a dependency on a consumer's start:
// `{consumer, capacity, Event::start}`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/quantity/quantity.hpp"

namespace floorline {

enum class StageId : std::uint32_t {};
enum class PoolId : std::uint32_t {};  ///< a resource: a pool of equal servers
constexpr std::size_t index_of(StageId id) { return static_cast<std::size_t>(id); }
constexpr std::size_t index_of(PoolId id) { return static_cast<std::size_t>(id); }

/// What a resource is, for reports: GPU-Util is the union over `gpu`, exposed communication looks
/// at links and networks, copies go to gpu_memcpy tracks of a trace.
enum class PoolKind : std::uint8_t { cpu, host, h2d, d2h, gpu, link, network, storage, other };

/// exclusive: one task a server. fair: all ready tasks run at once, each at rate
/// min(1, servers / running).
enum class Sharing : std::uint8_t { exclusive, fair };

/// Which waiting task a free server takes. Ties by (item, stage).
///   fifo      the one that was ready first
///   priority  the smallest Stage::sequence among those ready, then the smaller item
///   in_order  strictly by (item, sequence, stage): a task that is not ready holds up all after it
///             (a CUDA stream, a host program, a hand-written pipeline-parallel schedule)
enum class Queue : std::uint8_t { fifo, priority, in_order };

struct Pool {
  std::string name;
  std::int64_t servers = 1;
  PoolKind kind = PoolKind::other;
  Sharing sharing = Sharing::exclusive;
  Queue queue = Queue::fifo;
  /// Measured throughput of all servers together over servers x that of one: every time on this
  /// resource is divided by it. 1 where nothing was measured.
  double scaling_efficiency = 1;
};

/// A constant, or one time an item.
struct Duration {
  Seconds constant{0};
  std::vector<Seconds> per_item;  ///< empty: constant; else as many as items

  [[nodiscard]] bool is_constant() const { return per_item.empty(); }
  [[nodiscard]] Seconds of(std::int64_t item) const {
    return per_item.empty() ? constant : per_item[static_cast<std::size_t>(item)];
  }
};

enum class Event : std::uint8_t { finish, start };

/// Why a dependency is there: a word for reports, the rule is the same for all.
enum class DependencyKind : std::uint8_t {
  data,         ///< needs the result
  synchronous,  ///< the host waits inside a call
  stream,       ///< the operation before it on the same stream
  program,      ///< the same thread's program order
  credit        ///< a place that a later stage gives back
};

/// This stage's item i waits for `event` of `stage` at item i - distance. Items below `distance`
/// do not wait: they are the initial tokens of a cycle.
struct Dependency {
  StageId stage{};
  std::int64_t distance = 0;
  Event event = Event::finish;
  DependencyKind kind = DependencyKind::data;
};

struct Stage {
  std::string name;
  PoolId pool{};
  Duration time;
  std::vector<Dependency> after{};
  std::int64_t sequence = 0;  ///< for Queue::priority and Queue::in_order; smaller first
  Seconds not_before{0};      ///< no item starts earlier
  /// Stages of one group are reported, and made faster, together ("backward", "all_reduce").
  /// Empty: a group of its own.
  std::string group{};
  bool collective = false;  ///< communication between devices: exposed time is reported
};

struct Buffer {
  StageId producer{};
  StageId consumer{};  ///< has {producer, 0, finish} among its dependencies
  std::int64_t capacity = 1;
};

struct Pipeline {
  std::string name;
  std::int64_t items = 1;
  std::vector<Pool> pools;
  std::vector<Stage> stages;
  std::vector<Buffer> buffers;
  /// When item i enters; empty: all at zero. Tasks without a dependency wait for it.
  std::vector<Seconds> arrivals;

  PoolId add(Pool pool);
  StageId add(Stage stage);
  [[nodiscard]] const Pool& pool_of(StageId stage) const {
    return pools[index_of(stages[index_of(stage)].pool)];
  }
  /// The time on its resource, scaling efficiency applied.
  [[nodiscard]] Seconds time_of(StageId stage, std::int64_t item) const;
};

std::string_view word(PoolKind kind);

/// Most tasks of one schedule (36 bytes each), and most stages.
constexpr std::int64_t kMostTasks = 10'000'000;

}  // namespace floorline
