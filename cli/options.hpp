// SPDX-License-Identifier: Apache-2.0
// Flags that several verbs share, each read by our own number and unit reader.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/device/rates.hpp"
#include "model/input/diagnostic.hpp"
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
/// Each name once; a name given twice is an InputError.
std::vector<std::string> device_list(const DeviceOptions& options);
/// The one device of a command that takes no more. `why_one`: said of several.
std::string one_device(const DeviceOptions& options, const char* why_one);

/// Every --set; all that is wrong with them at once. A name is set once: a second value is refused,
/// also an equal one, and so is a value after a factor, which would be lost.
std::vector<Assignment> assignments_of(const std::vector<std::string>& set);
/// Those that can be read; what is wrong with the others is added.
std::vector<Assignment> assignments_of(const std::vector<std::string>& set,
                                       Diagnostics& diagnostics);
/// Flags that would have no effect where they stand are a misunderstanding: each is refused.
struct IdleFlag {
  const char* flag;
  bool given;
};
void refuse_idle(const std::vector<IdleFlag>& flags, const std::string& why,
                 Diagnostics& diagnostics);
/// --sm-clock and --mem-clock-scale.
void refuse_clocks(const DeviceOptions& options, const std::string& why, Diagnostics& diagnostics);

/// A time or a rate of --measured, as far as its text tells; empty is none.
void check_measured_text(const std::string& text);
/// --top, where it is given.
void check_top(std::optional<int> top);

}  // namespace floorline
