// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "model/device/device_check.hpp"
#include "model/device/device_text.hpp"
#include "model/input/diagnostic.hpp"

namespace floorline {

namespace {

/// Every number's source must be a key of [sources] if the file has that table.
struct CheckSources {
  const DeviceSpec& device;
  Diagnostics& diagnostics;
  template <class Q>
  void operator()(const std::string& path, const char* key, const MaybeSourced<Q>& member) const {
    if (!member.known || member.known->from.source.empty() || device.sources.empty()) return;
    const std::string& source = member.known->from.source;
    std::vector<std::string> keys;
    for (const SourceSpec& s : device.sources) {
      if (s.key == source) return;
      keys.push_back(s.key);
    }
    if (source.find(' ') != std::string::npos) return;  // free text
    const std::string full = path.empty() ? key : path + "." + key;
    diagnostics.add(member.known->from.at, full,
                    "source \"" + source + "\" is not in [sources]" + did_you_mean(source, keys));
  }
};

/// The tables a rate or level may name as its clock.
void check_clocks(const DeviceSpec& device, Diagnostics& diagnostics, const Position& at) {
  std::vector<std::string> names;
  for (const ClockSpec& clock : device.clocks) names.push_back(clock.name);
  for (const RateSpec& rate : device.rates) {
    if (!rate.per_clock_per_unit) continue;
    if (rate.clock.empty()) {
      diagnostics.add(rate.per_clock_per_unit.at, "rate." + rate.key,
                      "names no clock; expected clock = \"NAME\" of a [clock.NAME]");
      continue;
    }
    if (std::find(names.begin(), names.end(), rate.clock) != names.end()) continue;
    diagnostics.add(at, "rate." + rate.key + ".clock",
                    "there is no [clock." + rate.clock + "]" + did_you_mean(rate.clock, names));
  }
  const auto check_level = [&](const char* path, const LevelSpec& level) {
    if (!level.bytes_per_clock_per_unit || level.clock.empty()) return;
    if (std::find(names.begin(), names.end(), level.clock) != names.end()) return;
    diagnostics.add(at, std::string(path) + ".clock",
                    "there is no [clock." + level.clock + "]" + did_you_mean(level.clock, names));
  };
  check_level("memory.shared", device.shared);
  check_level("memory.l1_port", device.l1_port);
}

/// Rates, clocks and factors are above zero and of a size that a machine could have; amounts of
/// memory and times may be zero.
struct CheckMagnitude {
  Diagnostics& diagnostics;
  template <class Q>
  void operator()(const std::string& path, const char* key, const MaybeSourced<Q>& member) const {
    if constexpr (!std::is_same_v<Q, bool> && !std::is_same_v<Q, std::string>) {
      if (!member.known) return;
      constexpr bool kMayBeZero = std::is_same_v<Q, Seconds> || std::is_same_v<Q, Bytes>;
      for (const Q& q : {member->value, member->low, member->high}) {
        const double x = base_units(q);
        const bool sector = std::string_view(key) == "sector_bytes";
        if (std::isfinite(x) && x <= (sector ? kLargestSector : kLargest) &&
            (x >= kSmallest || (kMayBeZero && !sector && x == 0))) {
          continue;
        }
        diagnostics.add(
            member.at, path.empty() ? key : path + "." + key,
            plain_text(q) + " is out of range; expected an amount that a device could have");
        return;
      }
    }
  }
  static double base_units(double x) { return x; }
  template <int B, int F, int S>
  static double base_units(Quantity<B, F, S> q) {
    return q.in_base_units();
  }
  static constexpr double kLargest = 1e27;
  static constexpr double kSmallest = 1e-15;
  static constexpr double kLargestSector = 1048576;
};

void check_fabric_kind(const TopologySpec& topology, Diagnostics& diagnostics) {
  if (!topology.kind) return;
  const std::vector<std::string> kinds{"switch", "pairs", "ring", "mesh", "torus"};
  if (std::find(kinds.begin(), kinds.end(), topology.kind->value) != kinds.end()) return;
  diagnostics.add(topology.kind.at, "topology.kind",
                  "\"" + topology.kind->value +
                      "\" is not a kind; expected switch, pairs, ring, mesh or torus");
}

/// Counts that a device has whole numbers of.
void check_count(const MaybeSourced<double>& count, const char* key, Diagnostics& diagnostics) {
  if (!count) return;
  for (const double x : {count->value, count->low, count->high}) {
    if (x >= 1 && std::floor(x) == x) continue;
    diagnostics.add(count.at, key, exact_text(x) + " is not a whole number from 1 up");
    return;
  }
}

}  // namespace

void check_magnitudes(const DeviceSpec& device, Diagnostics& diagnostics) {
  visit_numbers(device, CheckMagnitude{diagnostics});
}

void check_device(const DeviceSpec& device, const Position& at, Diagnostics& diagnostics) {
  check_magnitudes(device, diagnostics);
  check_fabric_kind(device.topology, diagnostics);
  check_count(device.units, "units", diagnostics);
  check_count(device.topology.devices_per_node, "topology.devices_per_node", diagnostics);
  visit_numbers(device, CheckSources{device, diagnostics});
  check_clocks(device, diagnostics, at);
}

}  // namespace floorline
