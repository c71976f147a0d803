// SPDX-License-Identifier: Apache-2.0
// Baseline against variant, key by key.
#include <algorithm>

#include "model/quantity/unit_names.hpp"
#include "validation/hypothesis/hypothesis.hpp"

namespace floorline {

namespace {

using KeyValues = std::vector<std::pair<std::string, std::string>>;

/// 'KIND key=value …', of --op or of an experiment.
void add_words(const std::string& op, const std::string& prefix, KeyValues& all) {
  std::size_t i = 0;
  bool first = true;
  while (i < op.size()) {
    const std::size_t begin = op.find_first_not_of(" \t\n", i);
    if (begin == std::string::npos) break;
    const std::size_t end = std::min(op.find_first_of(" \t\n", begin), op.size());
    const std::string word = op.substr(begin, end - begin);
    const std::size_t equals = word.find('=');
    if (first) {
      all.emplace_back(prefix + "kind", word);
    } else {
      all.emplace_back(prefix + word.substr(0, equals),
                       equals == std::string::npos ? "" : word.substr(equals + 1));
    }
    first = false;
    i = end;
  }
}

/// "rows=16" is set.rows, "memory.hbm.bandwidth*=2" is set.memory.hbm.bandwidth.
void add_setting(const std::string& text, KeyValues& all) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) return;
  const bool scale = equals > 0 && text[equals - 1] == '*';
  all.emplace_back("set." + text.substr(0, scale ? equals - 1 : equals),
                   (scale ? "*" : "") + text.substr(equals + 1));
}

KeyValues keys_of(const HypothesisCase& c) {
  KeyValues all;
  add_words(c.op, "", all);
  if (!c.workload.empty()) all.emplace_back("workload", c.workload);
  for (const std::string& text : c.set) add_setting(text, all);
  if (!c.device.empty()) all.emplace_back("device", c.device);
  all.emplace_back("schedule", name_of(c.schedule));
  add_words(c.experiment, "experiment.", all);
  return all;
}

const std::string* find(const KeyValues& all, const std::string& key) {
  for (const auto& [k, value] : all) {
    if (k == key) return &value;
  }
  return nullptr;
}

bool same(const std::string& a, const std::string& b) {
  if (a == b) return true;
  const std::optional<double> x = parse_number(a);
  const std::optional<double> y = parse_number(b);
  return x && y && *x == *y;
}

}  // namespace

bool is_declared(const Difference& difference, const std::vector<std::string>& keys) {
  return std::any_of(keys.begin(), keys.end(), [&](const std::string& key) {
    return difference.key == key || difference.key == "experiment." + key;
  });
}

std::vector<Difference> differences(const HypothesisCase& baseline, const HypothesisCase& variant) {
  const KeyValues before = keys_of(baseline);
  const KeyValues after = keys_of(variant);
  std::vector<Difference> all;
  for (const auto& [key, value] : before) {
    const std::string* other = find(after, key);
    if (other != nullptr && same(value, *other)) continue;
    all.push_back({key, value, other != nullptr ? *other : ""});
  }
  for (const auto& [key, value] : after) {
    if (find(before, key) == nullptr) all.push_back({key, "", value});
  }
  return all;
}

}  // namespace floorline
