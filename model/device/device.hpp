// SPDX-License-Identifier: Apache-2.0
// What a device file says: plain structs, every number with its origin. Absent stays absent.
// visit_numbers() names every number of the format once; reading, showing and overriding all go
// through it, so a new key is one line there.
#pragma once

#include <string>
#include <vector>

#include "model/quantity/precision.hpp"
#include "model/quantity/quantity.hpp"
#include "model/quantity/resource.hpp"
#include "model/quantity/sourced.hpp"

namespace floorline {

struct ClockSpec {
  std::string name;               ///< "tensor", "vector"
  MaybeSourced<Hertz> published;  ///< the clock that the published peak assumes
  MaybeSourced<Hertz> highest;    ///< the highest clock that the driver reports
};

/// One compute rate: units × operations per clock × clock, or a total typed by the user.
struct RateSpec {
  std::string key;  ///< "tensor.bf16.fp32.sparse"
  ResourceId id;
  std::string clock;
  MaybeSourced<Flops> per_clock_per_unit;
  MaybeSourced<FlopsPerSecond> rate;  ///< a total; counts as a ceiling unless its kind says less
  MaybeSourced<FlopsPerSecond> cap;   ///< firmware cap, does not scale with the clock
  MaybeSourced<double> packing;       ///< sfu: results per operation in a packed half format
};

/// A declared emulation: fp32 products from `products` products of a narrower rate.
struct EmulationSpec {
  std::string name;
  Precision emulates = Precision::none;
  ResourceId uses;
  MaybeSourced<double> products;
};

struct LevelSpec {
  MaybeSourced<BytesPerSecond> bandwidth;
  MaybeSourced<Bytes> capacity;                  ///< advertised
  MaybeSourced<Bytes> driver_capacity;           ///< what the driver reports
  MaybeSourced<Bytes> capacity_per_unit;         ///< per SM / CU / core
  MaybeSourced<Bytes> usable_per_unit;           ///< of it, usable as shared memory
  MaybeSourced<Bytes> bytes_per_clock_per_unit;  ///< bandwidth as bytes per clock and unit
  std::string clock;
};

struct LinkSpec {
  MaybeSourced<BytesPerSecond> bandwidth;           ///< one direction, payload after line code
  MaybeSourced<BytesPerSecond> bandwidth_observed;  ///< what a benchmark reached
  MaybeSourced<Seconds> latency;
};

struct TopologySpec {
  MaybeSourced<double> devices_per_node;
  MaybeSourced<std::string> kind;  ///< switch, pairs, ring, mesh
  MaybeSourced<bool> in_network_reduction;
  MaybeSourced<bool> multicast;
};

struct OverheadSpec {
  std::string name;
  MaybeSourced<Seconds> time;
};

struct SourceSpec {
  std::string key;
  std::string title;
};

/// One key that a derived file, --set or --sm-clock replaced.
struct Override {
  std::string key;
  std::string before;
  std::string after;
  Position at;
};

struct DeviceSpec {
  std::string name;
  std::string title;
  std::string vendor;
  std::string compute_capability;
  std::string extends;
  std::string file;
  MaybeSourced<double> units;  ///< SMs, CUs, cores
  std::vector<ClockSpec> clocks;
  std::vector<RateSpec> rates;
  std::vector<EmulationSpec> emulations;
  MaybeSourced<Bytes> sector_bytes;
  LevelSpec hbm, l2, last_level, shared, l1_port, registers, tensor_memory;
  LinkSpec h2d, d2h, peer, network;
  TopologySpec topology;
  std::vector<OverheadSpec> overheads;
  MaybeSourced<std::string> power_limit;  ///< "700 W"; context for a reader, no formula uses it
  std::vector<SourceSpec> sources;
  std::vector<Override> overrides;
};

/// Calls visit(table path, key, member) for every number that the format knows, in file order.
/// Device is DeviceSpec or const DeviceSpec.
template <class Device, class Visitor>
void visit_numbers(Device& d, Visitor&& visit);

}  // namespace floorline

#include "model/device/device_numbers.hpp"
