// SPDX-License-Identifier: Apache-2.0
// Any bytes as a mapping, on a small table: an InputError, or rows whose texts can be made.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "model/input/diagnostic.hpp"
#include "validation/observation/table_mapping.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace floorline;
  static const CsvTable table =
      CsvTable::parse("gpu,M,N,K,type,us\nH100,1,2,3,half,4\nB200,,x,-3,,nan\n", "fuzz.csv");
  try {
    const TableMapping mapping =
        parse_mapping({reinterpret_cast<const char*>(data), size}, "fuzz.toml");
    const MappedTable mapped(table, mapping);
    for (std::size_t i = 0; i < table.row_count(); ++i) {
      if (mapped.row(i).value.empty()) std::abort();  // at least the unit
    }
  } catch (const InputError&) {  // a fine answer
  }
  return 0;
}
