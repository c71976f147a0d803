// SPDX-License-Identifier: Apache-2.0
// Files that exist while a command writes them. A command that is ended by SIGTERM, SIGINT or
// SIGHUP removes them before it ends by that signal. Not by SIGKILL.
#pragma once

#include <string>

namespace floorline {

/// A new, empty file of its own name beside `file`: never one that is there. Empty, with errno set,
/// when none can be made.
std::string new_scratch_file(const std::string& file);
/// It has another name by now, or is no more.
void forget_scratch_file(const std::string& name);
void remove_scratch_file(const std::string& name);

}  // namespace floorline
