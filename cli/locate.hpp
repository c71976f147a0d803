// SPDX-License-Identifier: Apache-2.0
// Where names are looked up: the flag, the environment, ../share/floorline beside the program, then
// the source tree it was built from.
#pragma once

#include <string>
#include <vector>

#include "model/device/device_file.hpp"

namespace floorline {

/// `extra` is the value of --device-path (folders separated by ':').
DevicePath device_path(const std::string& extra);
std::vector<std::string> workload_folders(const std::string& extra);

/// A file as it is, or NAME.toml / NAME.json in the workload folders. Throws InputError.
std::string find_workload(const std::string& name, const std::vector<std::string>& folders);

std::vector<std::string> hypothesis_folders(const std::string& extra);
/// A file as it is, or NAME.toml in the hypothesis folders. Throws InputError.
std::string find_hypothesis(const std::string& name, const std::vector<std::string>& folders);
/// Every *.toml of the first folder that holds one, sorted.
std::vector<std::string> shipped_hypotheses(const std::vector<std::string>& folders);

}  // namespace floorline
