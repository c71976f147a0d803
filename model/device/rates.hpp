// SPDX-License-Identifier: Apache-2.0
// A device resolved for one clock choice: an array of rates indexed by resource id.
//   ceiling = units × operations per clock × highest clock (fast ends of all ranges)   → floors
//   nominal = units × operations per clock × published clock (best-supported figures)  → nominal
//   terms
// Pooled rates (design §5): product.P = max(vector, tensor, their sum, declared emulations),
// linear.P = vector + fastest tensor rate, sfu = sfu × packing + fastest vector rate.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "model/device/device.hpp"
#include "model/device/on_chip.hpp"
#include "model/quantity/resource.hpp"

namespace floorline {

struct ClockChoice {
  std::optional<Hertz>
      sm_clock;             ///< --sm-clock: scales compute and shared memory exactly, caps not
  double memory_scale = 1;  ///< --mem-clock-scale: scales HBM
};

struct Rate {
  AmountPerSecond ceiling;   ///< fast end; meaningless unless has_ceiling
  AmountPerSecond nominal;   ///< as published
  bool known = false;        ///< the device states something
  bool has_ceiling = false;  ///< false: results that rest on it are not proven sound
  bool provisional = false;  ///< best_seen: beating it refutes the probe first
  RateKind kind = RateKind::ceiling;
  ResourceId via;        ///< the unit that gives it, for printing
  bool pooled = false;   ///< two units share the work
  const char* how = "";  ///< in words, when the rate is not simply that of `via`

  /// Whether beating it refutes something else than the rate itself.
  [[nodiscard]] bool proves() const { return has_ceiling && !provisional; }
};

class Rates {
 public:
  Rates();  // nothing known
  [[nodiscard]] const Rate& operator[](ResourceId id) const { return rates_[slot_[id.index()]]; }
  /// Observed rates give no floor; their terms are shown apart. `known` is false when there is
  /// none.
  [[nodiscard]] const Rate& observed(Unit unit) const {
    return observed_[static_cast<std::size_t>(unit)];
  }
  void set(ResourceId id, const Rate& rate);
  void set_observed(Unit unit, const Rate& rate);
  [[nodiscard]] std::vector<ResourceId> known() const;

 private:
  std::array<std::uint16_t, kResourceIndexEnd> slot_{};
  std::vector<Rate> rates_;  ///< rates_[0] is "not known"
  std::vector<ResourceId> ids_;
  std::array<Rate, kUnitCount> observed_{};
};

Rates resolve_rates(const DeviceSpec& device, const ClockChoice& clocks);
OnChip resolve_on_chip(const DeviceSpec& device);

/// The key of the device file that would supply `id` ("rate.tensor.bf16.fp32",
/// "memory.hbm.bandwidth").
std::string device_key_of(ResourceId id);

/// P/B at one level and precision, nominal figures; absent when either is.
std::optional<FlopsPerByte> ridge_point(const Rates& rates, ResourceId compute, Unit level);

}  // namespace floorline
