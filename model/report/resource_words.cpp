// SPDX-License-Identifier: Apache-2.0
#include "model/report/resource_words.hpp"

#include "model/quantity/unit_names.hpp"

namespace floorline {

std::string words_for(ResourceId id) {
  const std::string in(name_of(id.input));
  switch (id.unit) {
    case Unit::compute:
      return "compute";
    case Unit::memory:
      return "memory";
    case Unit::tensor:
      return in + " tensor unit" + (id.sparse ? ", sparse" : "");
    case Unit::product:
      return in + " products";
    case Unit::vector:
      return in + " vector unit";
    case Unit::linear:
      return in + " arithmetic";
    case Unit::sfu:
      return "exponentials";
    case Unit::hbm:
      return "HBM bandwidth";
    case Unit::l2:
      return "L2 bandwidth";
    case Unit::l1_port:
      return "L2-to-SM port";
    case Unit::shared:
      return "shared memory";
    case Unit::atomic:
      return "atomics";
    case Unit::h2d:
      return "host-to-device link";
    case Unit::d2h:
      return "device-to-host link";
    case Unit::peer_out:
      return "peer links out";
    case Unit::peer_in:
      return "peer links in";
    case Unit::net_out:
      return "network out";
    case Unit::net_in:
      return "network in";
    case Unit::host:
      return "host";
  }
  return "";
}

std::string words_for(const Term& term) {
  if (term.rate->pooled && term.resource.unit == Unit::vector) {
    return std::string(name_of(term.resource.input)) + " vector + tensor units";
  }
  const bool plain = term.rate->pooled || *term.rate->how == '\0';
  return words_for(term.resource) + (plain ? "" : " (" + std::string(term.rate->how) + ")");
}

std::string short_words_for(ResourceId id) {
  switch (id.unit) {
    case Unit::tensor:
      return std::string(name_of(id.input)) + " tensor";
    case Unit::vector:
      return std::string(name_of(id.input)) + " vector";
    case Unit::hbm:
      return "HBM";
    default:
      return words_for(id);
  }
}

std::string amount_text(ResourceId id, Amount amount) {
  switch (amount_kind(id.unit)) {
    case AmountKind::bytes:
      return to_text(Bytes(amount.in_base_units()));
    case AmountKind::flops:
      return to_text(Flops(amount.in_base_units()));
    case AmountKind::operations:
      return number_text(amount.in_base_units()) + " operations";
    case AmountKind::seconds:
      return to_text(Seconds(amount.in_base_units()));
  }
  return "";
}

std::string rate_text(ResourceId id, AmountPerSecond rate) {
  switch (amount_kind(id.unit)) {
    case AmountKind::bytes:
      return to_text(BytesPerSecond(rate.in_base_units()));
    case AmountKind::flops:
      return to_text(FlopsPerSecond(rate.in_base_units()));
    case AmountKind::operations:
      return number_text(rate.in_base_units() / 1e12) + "e12/s";
    case AmountKind::seconds:
      return "as stated";
  }
  return "";
}

std::string demand_words_for(ResourceId id) {
  if (id.unit == Unit::compute) return "work";
  if (id.unit == Unit::memory) return "traffic";
  switch (amount_kind(id.unit)) {
    case AmountKind::flops:
      return "work on the " + words_for(id);
    case AmountKind::operations:
      return words_for(id);
    case AmountKind::seconds:
      return "time on the " + words_for(id);
    case AmountKind::bytes:
      break;
  }
  return id.unit == Unit::hbm ? "HBM traffic" : "traffic on " + words_for(id);
}

std::string percent_text(double fraction) {
  const double percent = fraction * 100;
  const int digits = percent >= 10 ? 3 : (percent >= 1 ? 2 : 1);
  if (percent > 0 && percent < 0.01) return "<0.01 %";
  return number_text(percent, digits) + " %";
}

std::string factor_text(double factor) { return number_text(factor, 3) + "x"; }

}  // namespace floorline
