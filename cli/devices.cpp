// SPDX-License-Identifier: Apache-2.0
// floorline devices [show NAME | probe-cpu]: what is known.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "cli/command_line.hpp"
#include "cli/locate.hpp"
#include "cli/output.hpp"
#include "model/device/device_file.hpp"
#include "model/report/device_document.hpp"
#include "validation/experiment/cpu/cpu_device.hpp"

namespace floorline {

namespace {

struct DevicesOptions {
  DeviceOptions device;
  OutputOptions output;
};

int list_devices(const DevicesOptions& options) {
  Diagnostics wrong;
  check_output(options.output, wrong);
  const auto path = collected(wrong, [&] { return device_path(options.device.device_path); });
  wrong.throw_if_any();
  std::vector<Machine> machines;
  for (const std::string& name : device_names(*path)) {
    collect(wrong, [&] { machines.push_back(machine_of(load_device(name, *path), {})); });
  }
  print(device_list_document(machines), options.output);
  wrong.throw_if_any();  // a file that is wrong hides no other: told after the list, exit status 2
  return 0;
}

struct ProbeOptions {
  OutputOptions output;
  bool quick = false;
};

/// A device's name is its file's: letters, digits, _ and - of it.
std::string device_name_of(const std::string& file) {
  std::string name;
  for (const char c : std::filesystem::path(file).stem().string()) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || c == '-';
    if (plain) name += c;
  }
  return name.empty() ? "this_cpu" : name;
}

int probe_cpu(const ProbeOptions& options) {
  const Seconds budget(options.quick ? 0.3 : 3);
  const std::string name = device_name_of(options.output.file);
  const std::string text = cpu::device_text(cpu::probe_machine(budget), name);
  parse_device(text, name, {});  // what is written loads
  print_text(text, options.output);
  return 0;
}

void add_probe(CLI::App& verb, const std::shared_ptr<DevicesOptions>& list, Action& action) {
  CLI::App* probe = verb.add_subcommand(
      "probe-cpu", "this machine's processors and memory as a device file (TOML)");
  probe->footer(
      "Ceilings are what the machine states: processors, vector width, the highest clock,\n"
      "firmware's memory speed. What only the probe found is best_seen: beating it refutes the\n"
      "probe, not a floor.\n"
      "  floorline devices probe-cpu --output this_cpu.toml\n"
      "  floorline bound vector_add --device ./this_cpu.toml");
  auto options = std::make_shared<ProbeOptions>();
  probe->add_option("--output", options->output.file, "write to this file instead");
  probe->add_flag("--quick", options->quick, "probe memory for 0.3 s instead of 3 s");
  probe->callback([options, list, &action] {
    action = [options, list] {
      const OutputOptions& o = list->output;
      Diagnostics wrong;
      refuse_idle({{"--format", o.format != "table"},
                   {"--output", !o.file.empty()},
                   {"--device-path", !list->device.device_path.empty()}},
                  "is of the list of devices; expected after probe-cpu, where it has an --output",
                  wrong);
      check_output(options->output, wrong);
      wrong.throw_if_any();
      return probe_cpu(*options);
    };
  });
}

int show_device(const DevicesOptions& options) {
  Diagnostics wrong;
  check_output(options.output, wrong);
  const auto clocks = collected(wrong, [&] { return clocks_of(options.device); });
  auto device = collected(wrong, [&] {
    return load_device(options.device.device, device_path(options.device.device_path));
  });
  wrong.throw_if_any();
  print(device_document(machine_of(*std::move(device), *clocks)), options.output);
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
  add_probe(*verb, options, action);
}

}  // namespace floorline
