// SPDX-License-Identifier: Apache-2.0
#include "model/rewrite/kernel_numbers.hpp"

#include <array>

#include "model/input/diagnostic.hpp"
#include "model/quantity/expect.hpp"

namespace floorline {

namespace {

[[noreturn]] void refuse(const std::string& key, const std::string& why) {
  throw InputError(Diagnostic{position_in("command line"), key, why});
}

struct NumberName {
  const char* name;
  Dimension dimension;
};
constexpr std::array<NumberName, 4> kNames{{{"flops", Dimension::flops},
                                            {"bytes", Dimension::bytes},
                                            {"peak", Dimension::flops_per_second},
                                            {"bandwidth", Dimension::bytes_per_second}}};

Rate typed_rate(Unit unit, AmountPerSecond rate) {
  Rate r;
  r.nominal = r.ceiling = rate;
  r.known = r.has_ceiling = true;
  r.via = ResourceId{unit};
  return r;
}

void set_number(KernelNumbers& kernel, std::string_view name, double base) {
  if (name == "flops") kernel.work = Flops(base);
  if (name == "bytes") kernel.traffic = Bytes(base);
  if (name == "peak") kernel.peak = FlopsPerSecond(base);
  if (name == "bandwidth") kernel.bandwidth = BytesPerSecond(base);
}

}  // namespace

std::vector<std::string> kernel_number_names() {
  std::vector<std::string> names;
  for (const NumberName& n : kNames) names.emplace_back(n.name);
  return names;
}

KernelNumber number_of(const KernelNumbers& kernel, std::string_view name) {
  if (name == "flops") return {kernel.work.in_base_units(), Dimension::flops};
  if (name == "bytes") return {kernel.traffic.in_base_units(), Dimension::bytes};
  if (name == "peak") return {kernel.peak.in_base_units(), Dimension::flops_per_second};
  FLOORLINE_EXPECT(name == "bandwidth");
  return {kernel.bandwidth.in_base_units(), Dimension::bytes_per_second};
}

void assign(KernelNumbers& kernel, const Assignment& a) {
  for (const NumberName& n : kNames) {
    if (a.name != n.name) continue;
    const ParsedQuantity q = parse_quantity(a.value, n.dimension);
    const std::optional<double> factor = parse_number(a.value);
    if (a.scale && factor && *factor >= 0) {
      return set_number(kernel, a.name, number_of(kernel, a.name).base * *factor);
    }
    if (a.scale) refuse(a.name, "\"" + a.value + "\" is not a factor");
    if (!q.error.empty()) refuse(a.name, q.error);
    return set_number(kernel, a.name, q.base);
  }
  refuse(a.name,
         "is not an amount of a kernel by numbers" + did_you_mean(a.name, kernel_number_names()));
}

Rates rates_of(const KernelNumbers& kernel) {
  const bool works = kernel.work > Flops(0);
  const bool moves = kernel.traffic > Bytes(0);
  if (!works && !moves) refuse("--flops", "expected work: --flops, --bytes or both, above zero");
  if (works && !(kernel.peak > FlopsPerSecond(0)))
    refuse("--peak", "missing; --flops needs the rate that does them");
  if (moves && !(kernel.bandwidth > BytesPerSecond(0)))
    refuse("--bandwidth", "missing; --bytes needs the rate that moves them");
  Rates rates;
  if (kernel.peak > FlopsPerSecond(0))
    rates.set({Unit::compute}, typed_rate(Unit::compute, AmountPerSecond(kernel.peak)));
  if (kernel.bandwidth > BytesPerSecond(0))
    rates.set({Unit::memory}, typed_rate(Unit::memory, AmountPerSecond(kernel.bandwidth)));
  return rates;
}

}  // namespace floorline
