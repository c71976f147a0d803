// SPDX-License-Identifier: Apache-2.0
// Baseline against variant, key by key. Experiments of the suite are compared as they are written
// out, at the sizes of a GPU and of a CPU: the change must be one variable on both.
#include <algorithm>

#include "model/input/diagnostic.hpp"
#include "model/quantity/unit_names.hpp"
#include "model/workload/op_text.hpp"
#include "validation/hypothesis/experiment_name.hpp"
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

/// What was not written, as the engine takes it: a default that follows another key changes with
/// it.
void add_defaults(const std::string& op, KeyValues& all) {
  for (const auto& [key, value] : default_words(op)) {
    const bool written =
        std::any_of(all.begin(), all.end(), [&](const auto& known) { return known.first == key; });
    if (!written) all.emplace_back(key, value);
  }
}

/// In order: a later value replaces, a later factor scales ("8 *2").
/// "rows=16" is set.rows, "memory.hbm.bandwidth*=2" is set.memory.hbm.bandwidth.
void add_setting(const std::string& text, KeyValues& all) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) return;
  const bool scale = equals > 0 && text[equals - 1] == '*';
  const std::string key = "set." + text.substr(0, scale ? equals - 1 : equals);
  const std::string value = text.substr(equals + 1);
  for (auto& [known, so_far] : all) {
    if (known != key) continue;
    so_far = scale ? so_far + " *" + value : value;
    return;
  }
  all.emplace_back(key, (scale ? "*" : "") + value);
}

/// What a case says, and what its experiment takes for precisions that it does not say: these count
/// where the other case says them.
struct CaseKeys {
  KeyValues written;
  KeyValues implied;
};

void add_experiment(const HypothesisCase& c, Scale scale, CaseKeys& keys) {
  if (c.experiment.empty()) return;
  const std::optional<ExperimentSpec> spec = resolve_experiment(c.experiment, scale);
  if (!spec) return;
  add_words(text_of(*spec), "experiment.", keys.written);
  const ExperimentPrecision& p = spec->precision;
  for (const auto& [key, value] :
       {std::pair{"in", p.in}, std::pair{"weight", p.weight}, std::pair{"out", p.out},
        std::pair{"compute", p.compute}, std::pair{"accumulate", p.accumulate}}) {
    keys.implied.emplace_back(std::string("experiment.") + key, name_of(value));
  }
}

CaseKeys keys_of(const HypothesisCase& c, Scale scale) {
  CaseKeys keys;
  KeyValues& all = keys.written;
  add_words(c.op, "", all);
  add_defaults(c.op, all);
  if (!c.workload.empty()) all.emplace_back("workload", c.workload);
  for (const std::string& text : c.set) add_setting(text, all);
  if (!c.device.empty()) all.emplace_back("device", c.device);
  all.emplace_back("schedule", name_of(c.schedule));
  add_experiment(c, scale, keys);
  return keys;
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

std::vector<std::pair<std::string, std::string>> default_words(const std::string& op) {
  constexpr std::string_view kDefault = " (default)";
  std::vector<std::pair<std::string, std::string>> words;
  if (op.empty()) return words;
  for (const std::string& line : parse_op_text(op).assumptions) {
    const std::size_t equals = line.find(" = ");
    if (!line.ends_with(kDefault) || equals == std::string::npos) continue;
    const std::size_t begin = equals + 3;
    words.emplace_back(line.substr(0, equals),
                       line.substr(begin, line.size() - kDefault.size() - begin));
  }
  return words;
}

bool is_declared(const Difference& difference, const std::vector<std::string>& keys) {
  return std::any_of(keys.begin(), keys.end(), [&](const std::string& key) {
    return difference.key == key || difference.key == "experiment." + key;
  });
}

namespace {

const std::string* value_in(const CaseKeys& keys, const std::string& key) {
  const std::string* written = find(keys.written, key);
  return written != nullptr ? written : find(keys.implied, key);
}

/// Those that `all` does not have yet.
void add_differences(const CaseKeys& before, const CaseKeys& after, std::vector<Difference>& all) {
  const auto add = [&](const std::string& key) {
    const std::string* x = value_in(before, key);
    const std::string* y = value_in(after, key);
    if (x != nullptr && y != nullptr && same(*x, *y)) return;
    const bool known = std::any_of(all.begin(), all.end(),
                                   [&](const Difference& other) { return other.key == key; });
    if (!known) all.push_back({key, x != nullptr ? *x : "", y != nullptr ? *y : ""});
  };
  for (const auto& [key, value] : before.written) add(key);
  for (const auto& [key, value] : after.written) add(key);
}

}  // namespace

std::vector<Difference> differences(const HypothesisCase& baseline, const HypothesisCase& variant) {
  std::vector<Difference> all;
  for (const Scale scale : {Scale::device, Scale::host}) {
    add_differences(keys_of(baseline, scale), keys_of(variant, scale), all);
  }
  return all;
}

std::vector<Difference> differences(const HypothesisCase& baseline, const HypothesisCase& variant,
                                    Scale scale) {
  std::vector<Difference> all;
  add_differences(keys_of(baseline, scale), keys_of(variant, scale), all);
  return all;
}

}  // namespace floorline
