// SPDX-License-Identifier: Apache-2.0
// Flags that several verbs share, each read by our own number and unit reader.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/device/rates.hpp"
#include "model/report/document.hpp"
#include "model/rewrite/assignment.hpp"

namespace CLI {
class App;
}

namespace floorline {

struct OutputOptions {
  std::string format = "table";
  std::string file;
  bool no_color = false;
  const char* flag = "--output";  ///< that named the file, for messages
};

struct WorkloadOptions {
  std::string workload;  ///< a file or a name
  std::string op;
  std::string workload_path;
  std::vector<std::string> set;
};

struct DeviceOptions {
  std::string device;  ///< one or several, separated by commas
  std::string device_path;
  std::string sm_clock;
  std::string memory_scale;
};

void add_output_options(CLI::App& verb, OutputOptions& options);
void add_workload_options(CLI::App& verb, WorkloadOptions& options);
void add_device_options(CLI::App& verb, DeviceOptions& options, bool several);

Format format_of(const OutputOptions& options);
ClockChoice clocks_of(const DeviceOptions& options);
std::vector<std::string> device_list(const DeviceOptions& options);
std::vector<Assignment> assignments_of(const std::vector<std::string>& set);

}  // namespace floorline
