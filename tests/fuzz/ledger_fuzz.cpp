// SPDX-License-Identifier: Apache-2.0
// Any bytes as a ledger file and as an engine profile: an InputError, or a ledger whose largest
// line is not above its peak.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "model/input/diagnostic.hpp"
#include "model/ledger/engine_file.hpp"
#include "model/ledger/ledger_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace floorline;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const LedgerDocument document = parse_ledger(text, "fuzz");
    const ByteCount peak = peak_of(document.ledger).bytes;
    for (const LedgerEntry& line : document.ledger.lines) {
      if (line.bytes > peak) std::abort();
    }
  } catch (const InputError&) {  // a fine answer
  }
  try {
    parse_engine(text, "fuzz", "0.10");
  } catch (const InputError&) {
  }
  return 0;
}
