// SPDX-License-Identifier: Apache-2.0
// A number and where it is from. `value` is the best-supported figure; `range` spans all credible
// ones. Floors use upper() (the fast end); nominal terms and expectations use .value.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace floorline {

/// A place in an input: file (or "command line"), 1-based line and column; line 0 is "no place".
struct Position {
  std::shared_ptr<const std::string> file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

enum class Origin : std::uint8_t { datasheet, measured, derived, assumed };
std::string_view name_of(Origin origin);
std::optional<Origin> origin_from(std::string_view name);

/// Whether a rate can be exceeded (design §3).
enum class RateKind : std::uint8_t { ceiling, observed, best_seen };
std::string_view name_of(RateKind kind);
std::optional<RateKind> rate_kind_from(std::string_view name);

struct Provenance {
  Origin origin = Origin::assumed;
  std::string source;  ///< a key of the file's [sources], or free text
  std::string note;    ///< formula, conditions, reason of an assumption
  Position at;
};

template <class Q>
struct Sourced {
  Q value{};
  Q low{};   ///< slow or small end of the credible range
  Q high{};  ///< fast or large end
  RateKind kind = RateKind::ceiling;
  Provenance from;

  [[nodiscard]] Q upper() const { return std::max(value, high); }
  [[nodiscard]] Q lower() const { return std::min(value, low); }
};

/// A key that a file may give, may leave out, or may state as unknown with the reason.
template <class Q>
struct MaybeSourced {
  std::optional<Sourced<Q>> known;
  std::string unknown_because;  ///< non-empty: stated as unknown
  Position at;

  explicit operator bool() const { return known.has_value(); }
  const Sourced<Q>& operator*() const { return *known; }
  const Sourced<Q>* operator->() const { return &*known; }
};

}  // namespace floorline
