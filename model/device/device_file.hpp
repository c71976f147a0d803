// SPDX-License-Identifier: Apache-2.0
// Device files (TOML or JSON, schema 1): devices/README.md documents every key.
// `extends` derives a device at any depth; cycles are refused; overrides are recorded.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/device/device.hpp"

namespace floorline {

/// Folders searched for NAME.toml, in order.
struct DevicePath {
  std::vector<std::string> folders;
};

/// `name` is a file (has a '/' or ends in .toml/.json) or a device name. Throws InputError.
DeviceSpec load_device(const std::string& name, const DevicePath& path);
/// From text, for tests and probes; `extends` is resolved against `path`.
DeviceSpec parse_device(std::string_view text, std::string_view file_name, const DevicePath& path);
/// Names of the devices found in the folders, sorted, without duplicates.
std::vector<std::string> device_names(const DevicePath& path);

/// `memory.hbm.bandwidth=4 TB/s` sets, factor form scales every end of the range. Throws InputError
/// that names the nearest key.
void set_device_key(DeviceSpec& device, std::string_view key, std::string_view value);
void scale_device_key(DeviceSpec& device, std::string_view key, double factor);
/// Every key of this device's file format that holds a number, as written in the file.
std::vector<std::string> device_keys(const DeviceSpec& device);

}  // namespace floorline
