// SPDX-License-Identifier: Apache-2.0
// NAME=VALUE and NAME*=FACTOR, one grammar for --set, --change and --grid (workloads/WHATIF.md).
//   a symbol of the graph
//   op.NAME.bytes, .flops, .compute, .accumulate; op.NAME=remove; op.NAME='KIND key=value …'
//   tensor.NAME.dtype; weight_dtype[.GLOB], activation_dtype, kv_dtype; compute_dtype,
//   accumulate_dtype                      storage, compute and accumulate precision, each by itself
//   a device key as written in its file; sm_clock, mem_clock_scale
// NAME of an operator or tensor may be a glob (`*` any text, `?` one character).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/device/device.hpp"
#include "model/device/rates.hpp"
#include "model/workload/graph.hpp"

namespace floorline {

struct Assignment {
  std::string name;
  std::string value;
  bool scale = false;  ///< *=
};

/// Spaces around the sign and the whole do not count. Throws InputError when `text` has no '='.
Assignment parse_assignment(std::string_view text);

/// True for names that a device file could hold (memory., rate., link., clock., units, …).
bool names_device_key(std::string_view name);
/// op.… and tensor.…: parts of a graph, also of one that is made from a model.
bool names_graph_part(std::string_view name);
/// sm_clock and mem_clock_scale.
bool names_clock(std::string_view name);
void assign(DeviceSpec& device, const Assignment& assignment);
void assign(ClockChoice& clocks, const Assignment& assignment);
/// The two clocks by themselves; the name is only for messages.
void set_sm_clock(ClockChoice& clocks, const Assignment& assignment);
void set_memory_scale(ClockChoice& clocks, const Assignment& assignment);
/// Anything of the graph. Throws InputError that names the nearest known name.
void assign(OperatorGraph& graph, const Assignment& assignment);
/// Every name that the last one knows, globs and removal aside.
std::vector<std::string> assignable(const OperatorGraph& graph);

}  // namespace floorline
