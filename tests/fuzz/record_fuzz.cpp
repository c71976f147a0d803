// SPDX-License-Identifier: Apache-2.0
// Any bytes as a record: an InputError, or a document that every writer can write.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "model/input/diagnostic.hpp"
#include "validation/report/run_document.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace floorline;
  try {
    const Node record = parse_document({reinterpret_cast<const char*>(data), size}, "fuzz");
    const Document document = record_document(record, "record");
    for (const Format format : {Format::table, Format::json, Format::csv, Format::md}) {
      if (write(document, format, {}).empty()) std::abort();
    }
  } catch (const InputError&) {  // a fine answer
  }
  return 0;
}
