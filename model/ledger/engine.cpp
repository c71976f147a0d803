// SPDX-License-Identifier: Apache-2.0
#include "model/ledger/engine.hpp"

#include <array>
#include <charconv>

#include "model/ledger/kv_format.hpp"
#include "model/quantity/unit_names.hpp"

namespace floorline {

namespace {

/// Sums of a few of them fit 63 bits; products are checked.
constexpr std::int64_t kMostTokens = 1'000'000'000'000'000;

std::string read_count(std::string_view value, std::int64_t& out) {
  std::int64_t number = 0;
  const char* end = value.data() + value.size();
  const auto [stop, failed] = std::from_chars(value.data(), end, number);
  if (failed != std::errc() || stop != end || number < 1 || number > kMostTokens) {
    return quoted(value) + " is not a whole number from 1 to 10^15";
  }
  out = number;
  return {};
}

std::string read_count(std::string_view value, std::optional<std::int64_t>& out) {
  std::int64_t number = 0;
  std::string wrong = read_count(value, number);
  if (wrong.empty()) out = number;
  return wrong;
}

std::string read_flag(std::string_view value, bool& out) {
  if (value != "true" && value != "false") return quoted(value) + " is neither true nor false";
  out = value == "true";
  return {};
}

std::string read_format(std::string_view value, std::string& out) {
  if (!kv_format_from(value)) {
    std::string names;
    for (const std::string_view name : kv_format_names()) {
      names += (names.empty() ? "" : ", ") + std::string(name);
    }
    return quoted(value) + " is not a cache format; expected one of " + names;
  }
  out = std::string(value);
  return {};
}

std::string read_size(std::string_view value, std::optional<ByteCount>& out) {
  const ParsedQuantity q = parse_quantity(value, Dimension::bytes);
  if (q.error.empty()) out = whole_budget(Bytes(q.base));
  return q.error;
}

}  // namespace

std::string_view name_of(PoolRule rule) {
  constexpr std::array<std::string_view, 4> kNames{"none", "rest", "taken", "free"};
  return kNames[static_cast<std::size_t>(rule)];
}

const std::vector<SettingInfo>& ledger_settings() {
  static const std::vector<SettingInfo> kSettings{
      {"kv_format", "kv_dtype", "how the cache stores keys and values"},
      {"max_len", "the model's positions", "longest request that the engine admits"},
      {"batched_tokens", "the engine's", "tokens of the widest step"},
      {"max_sequences", "the engine's", "sequences of the widest step"},
      {"block_tokens", "the engine's", "tokens of a cache page"},
      {"prefix_caching", "false", "state layers keep a second page a request"},
      {"windows_as_full", "the engine's", "layers with a window or chunks keep every token"},
      {"draft", "false", "layers of multi-token prediction are loaded and cached"},
      {"available_kv", "computed", "cache memory that the engine's log says it has"},
  };
  return kSettings;
}

bool apply_setting(std::string_view name, std::string_view value, LedgerSettings& settings,
                   std::string& error) {
  error.clear();
  if (name == "kv_format") {
    error = read_format(value, settings.kv_format);
  } else if (name == "max_len") {
    error = read_count(value, settings.max_len);
  } else if (name == "batched_tokens") {
    error = read_count(value, settings.batched_tokens);
  } else if (name == "max_sequences") {
    error = read_count(value, settings.max_sequences);
  } else if (name == "block_tokens") {
    error = read_count(value, settings.block_tokens);
  } else if (name == "prefix_caching") {
    error = read_flag(value, settings.prefix_caching);
  } else if (name == "windows_as_full") {
    bool flag = false;
    error = read_flag(value, flag);
    settings.windows_as_full = flag;
  } else if (name == "draft") {
    error = read_flag(value, settings.draft);
  } else if (name == "available_kv") {
    error = read_size(value, settings.available_kv);
  } else {
    return false;
  }
  return true;
}

}  // namespace floorline
