// SPDX-License-Identifier: Apache-2.0
// A pipeline file as it was written: kind = "pipeline" (workloads/PIPELINES.md documents each key).
// Times that need a device, an operator's floor or a table stay unresolved here; whoever has those
// gives them to build_pipeline().
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "model/quantity/sourced.hpp"
#include "model/timeline/pipeline.hpp"

namespace floorline {

struct Node;

/// Bytes over a link: latency + bytes / bandwidth. Absent figures come from the device's link.
struct Transfer {
  Bytes bytes{0};
  std::string link;  ///< a resource of the file, or h2d, d2h, peer, network of the device
  std::optional<BytesPerSecond> bandwidth;
  std::optional<Seconds> latency;
  bool observed = false;  ///< the device's observed bandwidth instead of the ceiling
};

/// The floor of an operator or a workload on a device, over the share of it that is expected.
struct FloorOf {
  std::string op;        ///< or
  std::string workload;  ///< a name or a file
  std::vector<std::string> set;
  bool any_residency = false;
  double efficiency = 1;  ///< time = floor / efficiency; 1: the floor itself
};

struct CsvColumn {
  std::string file;
  std::string column;
  double unit_s = 1;  ///< seconds in one of the column's unit
};

enum class DistributionKind : std::uint8_t { uniform, normal, lognormal, exponential };
struct Distribution {
  DistributionKind kind = DistributionKind::normal;
  Seconds mean{0};
  Seconds deviation{0};  ///< normal (cut at zero), lognormal: of the time, not of its logarithm
  Seconds low{0}, high{0};
  std::int64_t seed = 0;
};

using TimeSource =
    std::variant<Seconds, std::vector<Seconds>, Transfer, FloorOf, CsvColumn, Distribution>;

struct AfterEntry {
  std::string stage;
  std::int64_t distance = 0;
  Event event = Event::finish;
  DependencyKind kind = DependencyKind::data;
  Position at;
};

struct StageEntry {
  std::string name;
  std::string resource;
  TimeSource time = Seconds(0);
  std::string device;  ///< of this stage; empty: the file's, or the flag's
  std::vector<AfterEntry> after;
  // An operation that a host thread issues to a device: any of these keys makes it one.
  bool issued = false;
  std::string host = "host";
  std::string stream = "default";
  bool pinned = false;
  bool non_blocking = false;
  Seconds launch{0};  ///< host time to issue it
  std::string group;
  bool collective = false;
  std::optional<std::int64_t> sequence;
  Seconds not_before{0};
  Position at;
  std::string path;  ///< "stage[2]"
};

struct BufferEntry {
  std::string producer, consumer;
  std::int64_t capacity = 1;
  Position at;
  std::string path;
};

/// A resource's own link figures, for transfers over it.
struct LinkFigures {
  std::optional<BytesPerSecond> bandwidth;
  std::optional<Seconds> latency;
};

struct PipelineFile {
  std::string name;
  std::optional<std::int64_t> items;
  std::string device;
  std::vector<Pool> resources;
  std::vector<LinkFigures> links;  ///< parallel to resources
  std::vector<StageEntry> stages;
  std::vector<BufferEntry> buffers;
  std::variant<std::monostate, std::vector<Seconds>, CsvColumn> arrivals;
  Position at;
};

/// True for a document that says kind = "pipeline".
bool is_pipeline_document(const Node& document);
/// Throws InputError with all that is wrong. Resources a stage names without a [[resource]] are
/// added if their name says what they are (cpu, host, gpu, h2d, d2h, peer, network, storage).
PipelineFile read_pipeline(const Node& document);

/// What the file's times come to, one a stage: constant, or as many as items.
struct ResolvedTimes {
  std::int64_t items = 1;
  std::vector<Duration> stages;
  std::vector<Seconds> arrivals;
};

/// Stages, copies and host calls as the scheduler's stages (device_operations.cpp has the rules).
Pipeline build_pipeline(const PipelineFile& file, ResolvedTimes times);

/// `items` times of a distribution, the same on every machine for one seed.
std::vector<Seconds> draw(const Distribution& distribution, std::int64_t items);

}  // namespace floorline
