// SPDX-License-Identifier: Apache-2.0
#include "model/timeline/kinds/kind_keys.hpp"

#include <algorithm>

namespace floorline {

std::int64_t count_key(TableReader& table, std::string_view key, const CountRange& range) {
  const std::optional<std::int64_t> given = table.count(key, range.least);
  if (!given) return range.otherwise;
  if (*given <= range.most) return *given;
  table.error(key,
              "is " + std::to_string(*given) + "; expected at most " + std::to_string(range.most));
  return range.otherwise;
}

std::int64_t required_count(TableReader& table, std::string_view key, std::int64_t least,
                            std::int64_t most) {
  table.required_node(key, "a whole number of at least " + std::to_string(least));
  return count_key(table, key, {least, most, least});
}

Seconds required_time(TableReader& table, std::string_view key) {
  table.required_node(key, "a time such as \"5 ms\"");
  return table.quantity<Seconds>(key).value_or(Seconds(0));
}

Seconds time_or_zero(TableReader& table, std::string_view key, const std::string& assumption,
                     std::vector<std::string>& assumptions) {
  const std::optional<Seconds> given = table.quantity<Seconds>(key);
  if (!given && !table.has(key)) assumptions.push_back(assumption);
  return given.value_or(Seconds(0));
}

Bytes required_bytes(TableReader& table, std::string_view key) {
  table.required_node(key, "a size such as \"4 MiB\"");
  return table.quantity<Bytes>(key).value_or(Bytes(0));
}

BytesPerSecond required_bandwidth(TableReader& table, std::string_view key) {
  table.required_node(key, "a rate such as \"25 GB/s\"");
  const std::optional<BytesPerSecond> given = table.quantity<BytesPerSecond>(key);
  if (!given) return BytesPerSecond(1);
  if (*given > BytesPerSecond(0)) return *given;
  table.error(key, "is zero; expected a rate above zero");
  return BytesPerSecond(1);
}

double share_key(TableReader& table, std::string_view key, double otherwise) {
  const std::optional<double> given = table.number(key);
  if (!given) return otherwise;
  if (*given > 0 && *given <= 1) return *given;
  table.error(key, "is " + exact_text(*given) + "; expected a share above 0 and at most 1");
  return otherwise;
}

std::size_t word_key(TableReader& table, std::string_view key,
                     const std::vector<std::string>& words) {
  const std::optional<std::string> given = table.text(key);
  if (!given) return 0;
  const auto found = std::find(words.begin(), words.end(), *given);
  if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : ", ") + word;
  table.error(key, quoted(*given) + " is not one of " + list + did_you_mean(*given, words));
  return 0;
}

}  // namespace floorline
