// SPDX-License-Identifier: Apache-2.0
// SHA-256 (FIPS 180-4) of what a record rests on, by OpenSSL's libcrypto.
#pragma once

#include <string>
#include <string_view>

namespace floorline {

/// 64 lower-case hexadecimal digits.
std::string sha256(std::string_view text);

}  // namespace floorline
