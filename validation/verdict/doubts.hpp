// SPDX-License-Identifier: Apache-2.0
// A run that is faster than it can be: which of F, D, P, B, t to doubt first, by the resource that
// proves the floor, and the next measurement that would tell them apart.
#pragma once

#include <vector>

#include "validation/verdict/verdict.hpp"

namespace floorline {

/// `rotated`: the line rests on the bytes that the run says it rotated over.
std::vector<Doubt> doubts_of(const CaseFloors& floors, bool rotated);

}  // namespace floorline
