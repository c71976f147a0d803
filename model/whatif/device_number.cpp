// SPDX-License-Identifier: Apache-2.0
#include "model/whatif/device_number.hpp"

namespace floorline {

std::string base_text(double base, Dimension dimension) {
  switch (dimension) {
    case Dimension::bytes:
      return to_text(Bytes(base));
    case Dimension::flops:
      return to_text(Flops(base));
    case Dimension::seconds:
      return to_text(Seconds(base));
    case Dimension::bytes_per_second:
      return to_text(BytesPerSecond(base));
    case Dimension::flops_per_second:
      return to_text(FlopsPerSecond(base));
    case Dimension::hertz:
      return to_text(Hertz(base));
    default:
      return exact_text(base);
  }
}

namespace {

struct ReadNumber {
  std::string_view key;
  DeviceNumber& out;
  template <class Member>
  void operator()(const std::string& table, const char* name, const Member& member) const {
    if ((table.empty() ? std::string(name) : table + "." + name) != key) return;
    out.found = true;
    out.stated = static_cast<bool>(member);
    if (out.stated) take(member->value);
  }
  void take(double value) const {
    out.base = value;
    out.text = exact_text(value);
    out.number = true;
  }
  void take(bool value) const { out.text = value ? "true" : "false"; }
  void take(const std::string& value) const { out.text = value; }
  template <class Q>
  void take(Q value) const {
    out.base = value.in_base_units();
    out.dimension = DimensionOf<Q>::value;
    out.text = base_text(out.base, *out.dimension);
    out.number = true;
  }
};

}  // namespace

DeviceNumber device_number(const DeviceSpec& device, const ClockChoice& clocks,
                           std::string_view key) {
  DeviceNumber number;
  visit_numbers(device, ReadNumber{key, number});
  if (number.found || !key.starts_with("rate.")) return number;
  const auto id = resource_from(key.substr(5));
  if (!id) return number;
  number.found = true;
  const Rate rate = resolve_rates(device, clocks)[*id];
  number.stated = rate.known;
  if (!rate.known) return number;
  number.number = true;
  number.dimension = Dimension::flops_per_second;
  number.base = rate.nominal.in_base_units();
  number.text = base_text(number.base, *number.dimension);
  return number;
}

}  // namespace floorline
