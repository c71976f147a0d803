// SPDX-License-Identifier: Apache-2.0
#include "cli/numbers.hpp"

#include <CLI/CLI.hpp>

#include "cli/refuse.hpp"

namespace floorline {

namespace {

double value_of(const std::string& text, const char* flag, Dimension dimension) {
  if (text.empty()) return 0;
  const ParsedQuantity q = parse_quantity(text, dimension);
  if (!q.error.empty()) refuse(flag, q.error);
  return q.base;
}

}  // namespace

void add_numbers_options(CLI::App& verb, NumbersOptions& options) {
  constexpr const char* kGroup = "One kernel by numbers";
  verb.add_option("--flops", options.flops, "work F of a kernel by numbers, such as 2e12 or 2TFLOP")
      ->group(kGroup);
  verb.add_option("--bytes", options.bytes, "traffic D, such as 100GB")->group(kGroup);
  verb.add_option("--peak", options.peak, "rate P, such as 100TFLOP/s")->group(kGroup);
  verb.add_option("--bandwidth", options.bandwidth, "rate B, such as 1TB/s")->group(kGroup);
}

KernelNumbers read_numbers(const NumbersOptions& options, const WorkloadOptions& workload,
                           const DeviceOptions& device) {
  if (!workload.workload.empty() || !workload.op.empty() || !device.device.empty()) {
    refuse("--flops",
           "a kernel by numbers takes no workload, --op or --device; expected only --flops, "
           "--bytes, --peak, --bandwidth");
  }
  Diagnostics wrong;
  const char* no_device = "is of a device; a kernel by numbers has --peak and --bandwidth";
  refuse_clocks(device, no_device, wrong);
  refuse_idle({{"--device-path", !device.device_path.empty()}}, no_device, wrong);
  refuse_idle({{"--workload-path", !workload.workload_path.empty()}},
              "is of a workload, which a kernel by numbers has none of", wrong);
  const auto value = [&wrong](const std::string& text, const char* flag, Dimension dimension) {
    return collected(wrong, [&] { return value_of(text, flag, dimension); }).value_or(0);
  };
  KernelNumbers kernel;
  kernel.work = Flops(value(options.flops, "--flops", Dimension::flops));
  kernel.traffic = Bytes(value(options.bytes, "--bytes", Dimension::bytes));
  kernel.peak = FlopsPerSecond(value(options.peak, "--peak", Dimension::flops_per_second));
  kernel.bandwidth =
      BytesPerSecond(value(options.bandwidth, "--bandwidth", Dimension::bytes_per_second));
  for (const Assignment& a : assignments_of(workload.set, wrong))
    collect(wrong, [&] { assign(kernel, a); });
  wrong.throw_if_any();
  return kernel;
}

Json json_of(const KernelNumbers& kernel) {
  const auto typed = [](double value) { return value > 0 ? Json(value) : Json(); };
  return Json::object()
      .set("flops", typed(kernel.work.in_base_units()))
      .set("bytes", typed(kernel.traffic.in_base_units()))
      .set("peak_flops_per_s", typed(kernel.peak.in_base_units()))
      .set("bandwidth_bytes_per_s", typed(kernel.bandwidth.in_base_units()));
}

}  // namespace floorline
