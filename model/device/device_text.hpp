// SPDX-License-Identifier: Apache-2.0
// Device numbers as text, with units, for `devices show` and for the record of overrides.
#pragma once

#include <string>

#include "model/quantity/sourced.hpp"
#include "model/quantity/unit_names.hpp"

namespace floorline {

inline std::string plain_text(double x) { return exact_text(x); }
inline std::string plain_text(bool x) { return x ? "true" : "false"; }
inline std::string plain_text(const std::string& x) { return x; }
/// Capacities that are whole MiB print binary, all else decimal.
inline std::string plain_text(Bytes b) {
  const double kib = b.in_base_units() / 1024.0;
  const bool whole = kib >= 1 && kib == static_cast<double>(static_cast<long long>(kib));
  if (kib >= 1048576) return to_text(b, 6) + " = " + to_text_binary(b, 5);  // large: both
  return whole ? to_text_binary(b, 6) : to_text(b, 6);
}
inline std::string plain_text(Hertz f) { return to_text(f, 6); }
inline std::string plain_text(Flops f) { return exact_text(f.in_base_units()) + " FLOP"; }
inline std::string plain_text(Seconds t) { return to_text(t, 4); }
inline std::string plain_text(BytesPerSecond r) { return to_text(r, 5); }
inline std::string plain_text(FlopsPerSecond r) { return to_text(r, 5); }

/// "3.350 TB/s", or "unknown (why)", or "absent".
template <class Q>
std::string number_to_text(const MaybeSourced<Q>& member) {
  if (member.known) return plain_text(member.known->value);
  return member.unknown_because.empty() ? "absent" : "unknown (" + member.unknown_because + ")";
}

}  // namespace floorline
