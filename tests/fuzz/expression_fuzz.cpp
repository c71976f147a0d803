// SPDX-License-Identifier: Apache-2.0
// Any bytes as an expression: no crash, no deep recursion; what parses parses again to the same.
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "model/expression/expression.hpp"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace floorline;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  SymbolTable symbols;
  symbols.slot("batch");
  symbols.slot("seq");
  constexpr std::array<double, 2> kValues{3, 7};

  Diagnostics diagnostics;
  const Expression once = Expression::parse(text, symbols, {}, "", diagnostics);
  require(diagnostics.size() <= 1);
  const double value = once.evaluate(kValues);
  Diagnostics none;
  const Expression twice = Expression::parse(once.text(), symbols, {}, "", none);
  require(none.empty());
  const double again = twice.evaluate(kValues);
  require(again == value || (std::isnan(again) && std::isnan(value)));
  require(once.uses(0) == twice.uses(0) && once.uses(1) == twice.uses(1));
  return 0;
}
