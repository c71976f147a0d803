// SPDX-License-Identifier: Apache-2.0
// The least time of a demand on a device: max over resources of demand / rate, resources perfectly
// concurrent (the roofline of Williams, Waterman, Patterson 2009, turned into a bound on time).
//   cold           each distinct input byte is read once from HBM, each output byte written once
//   any residency  HBM bytes ≥ max(0, reads − S) + max(0, writes − S): whatever was on chip before.
//                  S = S_keep when kernels do not overlap, S_all when the next may start before
//                  this one ends. It alone may call a measurement impossible.
// Floors use ceilings (fast ends); nominal terms use published figures. A resource whose rate is
// only observed gives no term. Not modelled: latency, launch, occupancy, clocks below the highest.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "model/demand/demand.hpp"
#include "model/device/rates.hpp"
#include "model/quantity/quantity.hpp"

namespace floorline {

enum class Residency : std::uint8_t {
  cold,      ///< nothing of it on chip at the start, every output in HBM at the end
  any_keep,  ///< any residency, kernels do not overlap: S_keep
  any_all,   ///< any residency, kernels may overlap: S_all
};

struct Term {
  ResourceId resource;  ///< as printed: the unit that gives the rate
  Amount amount;
  const Rate* rate = nullptr;  ///< into the Rates the floor was computed with
  Seconds time{0};

  /// At the published rate.
  [[nodiscard]] std::optional<Seconds> nominal_time() const {
    if (!(rate->nominal > AmountPerSecond())) return std::nullopt;
    return amount / rate->nominal;
  }
};

struct BreakEven {
  Amount amount;      ///< of the binding demand, at which the runner-up's term is equal
  double factor = 0;  ///< that amount over the present one
};

struct Floor {
  static constexpr int kCapacity = Demand::kCapacity + 1;
  std::array<Term, kCapacity> terms{};
  int count = 0;
  int binding = -1;             ///< index of the largest term; -1: no work at all
  bool proven = true;           ///< false: the binding rate has no ceiling, or is best_seen
  bool memory_unknown = false;  ///< any residency asked of a device whose caches are not known

  [[nodiscard]] Seconds time() const {
    return binding < 0 ? Seconds(0) : terms[static_cast<std::size_t>(binding)].time;
  }
  /// The largest term that a ceiling proves: what may call a measurement impossible.
  [[nodiscard]] Seconds proven_time() const;
  [[nodiscard]] std::span<const Term> list() const {
    return {terms.data(), static_cast<std::size_t>(count)};
  }
  [[nodiscard]] const Term& binding_term() const {
    return terms[static_cast<std::size_t>(binding)];
  }
  /// The binding rate is best_seen.
  [[nodiscard]] bool provisional() const {
    return binding >= 0 && binding_term().rate->provisional;
  }
  [[nodiscard]] int runner_up() const;  ///< index of the next longest term; -1: there is none
  [[nodiscard]] bool tie() const;       ///< as long as the binding one
  [[nodiscard]] std::optional<BreakEven> break_even() const;
};

/// The longest of an operator's terms: its floor without the list of the others, which floor_of()
/// gives to who wants it.
struct Limit {
  Seconds longest{0};
  Amount amount;
  const Rate* rate = nullptr;  ///< null: no work at all

  [[nodiscard]] Seconds time() const { return longest; }
  [[nodiscard]] bool none() const { return rate == nullptr; }
  [[nodiscard]] ResourceId resource() const { return rate->via; }
  [[nodiscard]] Term term() const { return {rate->via, amount, rate, longest}; }
  /// False: the binding rate has no ceiling, or is best_seen.
  [[nodiscard]] bool proven() const { return none() || rate->proves(); }
  [[nodiscard]] bool provisional() const { return !none() && rate->provisional; }
};

struct OperatorFloors {
  Demand demand;
  Limit cold;
  Limit any;                  ///< any residency, kernels do not overlap
  Seconds any_overlapped{0};  ///< any residency, other kernels may run meanwhile
  double times = 1;
  bool memory_unknown = false;  ///< any residency asked of a device whose caches are not known
  bool served = true;  ///< the device states every rate that the demand needs, see missing_rates()
};

Floor floor_of(const Demand& demand, const Rates& rates, const OnChip& chip, Residency residency);
/// The limits of an operator's demand in one pass over it: of what floor_of() lists, the longest.
void fill_floors(const Rates& rates, const OnChip& chip, OperatorFloors& op);

/// HBM bytes under a residency; `least_total` is the finite-memory bound of a matrix product.
Bytes hbm_bytes(const Demand& demand, const OnChip& chip, Residency residency);

/// Resources that the demand asks for, that a floor cannot do without, and that the device does not
/// state: input errors of whoever asked.
struct MissingRates {
  std::array<ResourceId, Demand::kCapacity + 1> ids{};
  int count = 0;
};
MissingRates missing_rates(const Demand& demand, const Rates& rates);

/// A time that rests on observed rates only: shown apart, no part of a floor.
struct ObservedTerms {
  std::array<Term, 4> terms{};
  int count = 0;
};
ObservedTerms observed_terms(const Demand& demand, const Rates& rates);

}  // namespace floorline
