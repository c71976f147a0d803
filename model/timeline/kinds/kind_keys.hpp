// SPDX-License-Identifier: Apache-2.0
// Keys of pipeline kinds, read with the limits that keep a run small: a count out of range, a
// missing time or a bandwidth of zero is a diagnostic that names the key.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/input/table_reader.hpp"
#include "model/quantity/quantity.hpp"

namespace floorline {

struct CountRange {
  std::int64_t least = 0;
  std::int64_t most = 0;
  std::int64_t otherwise = 0;  ///< when the key is absent
};
std::int64_t count_key(TableReader& table, std::string_view key, const CountRange& range);
/// Must be there.
std::int64_t required_count(TableReader& table, std::string_view key, std::int64_t least,
                            std::int64_t most);

/// A time that must be there.
Seconds required_time(TableReader& table, std::string_view key);
/// Zero, with `assumption` said, where it is not.
Seconds time_or_zero(TableReader& table, std::string_view key, const std::string& assumption,
                     std::vector<std::string>& assumptions);
Bytes required_bytes(TableReader& table, std::string_view key);
BytesPerSecond required_bandwidth(TableReader& table, std::string_view key);
/// A share above 0 and at most 1.
double share_key(TableReader& table, std::string_view key, double otherwise);

/// One of `words`, the first where the key is absent; its place in the list.
std::size_t word_key(TableReader& table, std::string_view key,
                     const std::vector<std::string>& words);

}  // namespace floorline
