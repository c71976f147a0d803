// SPDX-License-Identifier: Apache-2.0
// floorline devices [show NAME]: what is known.
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/command_line.hpp"
#include "cli/locate.hpp"
#include "cli/output.hpp"
#include "model/device/device_file.hpp"
#include "model/report/device_document.hpp"

namespace floorline {

namespace {

struct DevicesOptions {
  DeviceOptions device;
  OutputOptions output;
};

int list_devices(const DevicesOptions& options) {
  const DevicePath path = device_path(options.device.device_path);
  std::vector<Machine> machines;
  for (const std::string& name : device_names(path)) {
    machines.push_back(machine_of(load_device(name, path), {}));
  }
  print(device_list_document(machines), options.output);
  return 0;
}

int show_device(const DevicesOptions& options) {
  DeviceSpec device = load_device(options.device.device, device_path(options.device.device_path));
  print(device_document(machine_of(std::move(device), clocks_of(options.device))), options.output);
  return 0;
}

}  // namespace

void add_devices(CLI::App& app, Action& action) {
  CLI::App* verb =
      app.add_subcommand("devices", "the devices known; `devices show NAME` prints every number");
  auto options = std::make_shared<DevicesOptions>();
  verb->add_option("--device-path", options->device.device_path,
                   "folders to look for devices in first");
  add_output_options(*verb, options->output);
  verb->callback([options, &action] {
    if (!action) action = [options] { return list_devices(*options); };
  });
  CLI::App* show =
      verb->add_subcommand("show", "every number of one device, with origin and source");
  show->add_option("NAME", options->device.device, "a device name or file")->required();
  show->add_option("--sm-clock", options->device.sm_clock, "such as 1410MHz");
  show->add_option("--mem-clock-scale", options->device.memory_scale, "such as 0.8");
  show->add_option("--device-path", options->device.device_path,
                   "folders to look for devices in first");
  add_output_options(*show, options->output);
  show->callback([options, &action] { action = [options] { return show_device(*options); }; });
}

}  // namespace floorline
