// SPDX-License-Identifier: Apache-2.0
// What is wrong with a command line, in the order in which it was typed: checks run in an order of
// their own.
#pragma once

#include <vector>

#include "model/input/diagnostic.hpp"

namespace floorline {

/// The same error; what names an argument (a flag, a NAME of NAME=VALUE, a file) stands where that
/// argument does, what names none comes last.
InputError in_argument_order(const InputError& error, int argc, char** argv);

}  // namespace floorline
