// SPDX-License-Identifier: Apache-2.0
// Any bytes as a quantity: no crash, a value or a reason, and exact text that reads back.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "model/quantity/resource.hpp"
#include "model/quantity/unit_names.hpp"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace floorline;
  const std::string_view text(reinterpret_cast<const char*>(data), size);

  const auto any = parse_any_quantity(text);
  for (int d = 0; d < kDimensionCount; ++d) {
    const auto dimension = static_cast<Dimension>(d);
    const ParsedQuantity parsed = parse_quantity(text, dimension);
    if (!parsed.error.empty()) {
      require(parsed.error.size() < 1000);
      continue;
    }
    require(std::isfinite(parsed.base) && parsed.base >= 0);
    require(parse_number(exact_text(parsed.base)) == parsed.base);
    if (any && any->dimension == dimension) require(any->base == parsed.base);
    to_text(Seconds(parsed.base));
    to_text_binary(Bytes(parsed.base));
  }
  if (const auto number = parse_number(text)) {
    require(parse_number(exact_text(*number)) == *number);
  }
  if (const auto id = resource_from(text)) require(resource_from(name_of(*id)) == *id);
  return 0;
}
