// SPDX-License-Identifier: Apache-2.0
#include "model/whatif/break_even.hpp"

#include <array>
#include <cmath>

#include "model/input/diagnostic.hpp"

namespace floorline {

namespace {

constexpr int kDoublings = 24;  // a factor of 16 million either way
constexpr int kHalvings = 44;   // the interval of one doubling down to 1e-13 of it

class Search {
 public:
  Search(const Situation& s, const ChangePath& path) : situation_(step_shown(s)), path_(path) {}

  [[nodiscard]] std::optional<Outcome> at(double value) const {
    try {
      return evaluate(changed(situation_, {path_.at(value)}));
    } catch (const InputError&) {
      return std::nullopt;  // not every value in between is one that can be had
    }
  }
  [[nodiscard]] std::optional<ResourceId> binding_at(double value) const {
    const auto outcome = at(value);
    if (!outcome) return std::nullopt;
    return outcome->evaluation.floors.serial_binding;
  }

 private:
  Situation situation_;
  const ChangePath& path_;
};

BreakEvenAnswer none(std::string reason) { return {std::nullopt, std::move(reason)}; }

BreakEvenAnswer found_at(const ChangePath& path, double value, ResourceId to) {
  const bool up = path.to > path.from;
  BreakEvenValue even{value, value / path.from, path.text(value), to,
                      up ? value <= path.to : value >= path.to};
  return {even, ""};
}

/// How a term goes with the value: by its time at the double value. Absent: neither with v nor 1/v.
std::optional<int> power_of(Seconds here, Seconds at_double) {
  constexpr double kSame = 1e-9;
  const double ratio = at_double / here;
  if (std::abs(ratio - 1) < kSame) return 0;
  if (std::abs(ratio - 2) < kSame) return 1;
  if (std::abs(ratio - 0.5) < kSame) return -1;
  return std::nullopt;
}

/// The crossing of one kernel's terms; absent where a term is none of a·v, a, a/v.
std::optional<BreakEvenAnswer> closed_form(const Search& search, const ChangePath& path,
                                           const Outcome& start) {
  const auto& ops = start.evaluation.floors.ops;
  if (ops.size() != 1 || path.whole || ops.front().cold.none()) return std::nullopt;
  const auto twice = search.at(path.from * 2);
  if (!twice || twice->evaluation.floors.ops.size() != 1) return std::nullopt;
  const Floor here = floor_in(start, 0);
  const Floor there = floor_in(*twice, 0);
  if (here.count != there.count) return std::nullopt;
  std::array<int, Floor::kCapacity> power{};
  for (int i = 0; i < here.count; ++i) {
    const auto k = static_cast<std::size_t>(i);
    if (here.terms[k].resource != there.terms[k].resource) return std::nullopt;
    const auto p = power_of(here.terms[k].time, there.terms[k].time);
    if (!p) return std::nullopt;
    power[k] = *p;
  }
  const auto b = static_cast<std::size_t>(here.binding);
  const bool up = path.to > path.from;
  double nearest = 0;
  ResourceId to;
  for (int i = 0; i < here.count; ++i) {
    const auto k = static_cast<std::size_t>(i);
    if (k == b || power[k] == power[b]) continue;
    const double f = std::pow(here.terms[b].time / here.terms[k].time, 1.0 / (power[k] - power[b]));
    const bool ahead = up ? f >= 1 : f <= 1;
    const bool nearer = nearest == 0 || (up ? f < nearest : f > nearest);
    if (!ahead || !nearer || !std::isfinite(f) || f == 0) continue;
    nearest = f;
    to = here.terms[k].resource;
  }
  if (nearest == 0)
    return none(name_of(here.binding_term().resource) + " binds at every value in this direction");
  return found_at(path, path.from * nearest, to);
}

struct Bracket {
  double same = 0;       ///< the present binding
  double different = 0;  ///< another one
};

/// Doubles (halves) away from the start until the binding differs; `last` is the last value tried
/// that can be had.
std::optional<Bracket> bracket(const Search& search, const ChangePath& path, ResourceId binding,
                               double& last) {
  const bool up = path.to > path.from;
  double same = path.from;
  for (int i = 1; i <= kDoublings; ++i) {
    double value = path.from * std::pow(2.0, up ? i : -i);
    if (path.whole) value = std::floor(value);
    if (path.whole && value < 1) break;
    const auto now = search.binding_at(value);
    if (!now) break;
    if (*now != binding) return Bracket{same, value};
    same = last = value;
  }
  // The new value itself may be one that doublings jump over or cannot reach.
  const auto at_end = search.binding_at(path.to);
  if (at_end && *at_end != binding) return Bracket{same, path.to};
  if (at_end && std::abs(path.to - path.from) > std::abs(last - path.from)) last = path.to;
  return std::nullopt;
}

double halved(const Search& search, const ChangePath& path, ResourceId binding, Bracket b) {
  for (int i = 0; i < kHalvings; ++i) {
    double middle = (b.same + b.different) / 2;
    if (path.whole) {
      if (std::abs(b.same - b.different) <= 1) break;
      middle = std::floor(middle);
    }
    if (middle == b.same || middle == b.different) break;
    const auto now = search.binding_at(middle);
    if (!now) break;
    (*now == binding ? b.same : b.different) = middle;
  }
  return b.different;
}

}  // namespace

BreakEvenAnswer break_even_along(const Situation& s, const Outcome& before, const Variable& v) {
  if (!v.path) return none("not a number: there are no values in between");
  const ChangePath& path = *v.path;
  if (!(path.from > 0)) return none("no present value above zero to start from");
  if (path.to == path.from) return none("the change leaves it as it is");
  const Search search(s, path);
  if (!(before.evaluation.floors.serial.cold > Seconds(0))) return none("nothing binds");
  if (const auto exact = closed_form(search, path, before)) return *exact;
  const ResourceId binding = before.evaluation.floors.serial_binding;
  double last = path.from;
  const auto between = bracket(search, path, binding, last);
  if (!between)
    return none(name_of(binding) + " binds at every value tried, to " + path.text(last));
  const double value = halved(search, path, binding, *between);
  const auto to = search.binding_at(value);
  return found_at(path, value, to.value_or(binding));
}

}  // namespace floorline
