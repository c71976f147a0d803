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

}  // namespace floorline
