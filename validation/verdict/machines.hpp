// SPDX-License-Identifier: Apache-2.0
// The device of a row's gpu column, loaded once.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "model/device/device_file.hpp"
#include "model/evaluate.hpp"

namespace floorline {

class Machines {
 public:
  explicit Machines(DevicePath path);
  /// Null when no device file has this name. Throws InputError when the file is bad.
  const Machine* find(std::string_view gpu);

 private:
  DevicePath path_;
  std::vector<std::string> names_;
  std::map<std::string, std::unique_ptr<Machine>, std::less<>> found_;
};

}  // namespace floorline
