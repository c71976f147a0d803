// SPDX-License-Identifier: Apache-2.0
#include "validation/record/sha256.hpp"

#include <openssl/evp.h>

#include <array>

#include "model/quantity/expect.hpp"

namespace floorline {

std::string sha256(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  const int done =
      EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr);
  FLOORLINE_EXPECT(done == 1 && size == 32);
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string hex;
  for (unsigned int i = 0; i < size; ++i) {
    hex += kHex[digest[i] >> 4U];
    hex += kHex[digest[i] & 0xFU];
  }
  return hex;
}

}  // namespace floorline
