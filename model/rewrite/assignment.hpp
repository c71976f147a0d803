// SPDX-License-Identifier: Apache-2.0
// NAME=VALUE and NAME*=FACTOR, one grammar for --set, --change and --grid. NAME is a symbol of the
// graph; op.NAME.bytes or op.NAME.flops; or a device key as written in its file.
#pragma once

#include <string>
#include <string_view>

#include "model/device/device.hpp"
#include "model/workload/graph.hpp"

namespace floorline {

struct Assignment {
  std::string name;
  std::string value;
  bool scale = false;  ///< *=
};

/// Throws InputError when `text` has no '='.
Assignment parse_assignment(std::string_view text);

/// True for names that a device file could hold (memory., rate., link., clock., units, …).
bool names_device_key(std::string_view name);
void assign(DeviceSpec& device, const Assignment& assignment);
/// A symbol or an operator's bytes or flops. Throws InputError that names the nearest known name.
void assign(OperatorGraph& graph, const Assignment& assignment);

}  // namespace floorline
