// SPDX-License-Identifier: Apache-2.0
// Our own bugs: on in every build, exit status 70. User input can never reach it.
#pragma once

#include <stdexcept>
#include <string>

namespace floorline {

[[noreturn]] inline void expectation_failed(const char* condition, const char* file, int line) {
  throw std::logic_error(std::string(file) + ":" + std::to_string(line) + ": expected " +
                         condition);
}

}  // namespace floorline

#define FLOORLINE_EXPECT(condition)   \
  ((condition) ? static_cast<void>(0) \
               : ::floorline::expectation_failed(#condition, __FILE__, __LINE__))
