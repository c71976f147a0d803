// SPDX-License-Identifier: Apache-2.0
// A document as TOML: members that are objects become tables, arrays of objects tables of a list,
// all below them inline. Null has no TOML: such members are left out.
#pragma once

#include <string>

#include "model/report/document.hpp"

namespace floorline {

std::string write_toml(const Document& document);

}  // namespace floorline
