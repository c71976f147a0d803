// SPDX-License-Identifier: Apache-2.0
// How a verb says that a flag cannot be served.
#pragma once

#include <string>

namespace floorline {

/// "command line: error: FLAG: WHY", exit status 2.
[[noreturn]] void refuse(const std::string& flag, const std::string& why);

}  // namespace floorline
