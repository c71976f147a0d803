// SPDX-License-Identifier: Apache-2.0
#include "cli/refuse.hpp"

#include "model/input/diagnostic.hpp"

namespace floorline {

void refuse(const std::string& flag, const std::string& why) {
  throw InputError(Diagnostic{position_in("command line"), flag, why});
}

}  // namespace floorline
