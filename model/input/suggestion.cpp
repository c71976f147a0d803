// SPDX-License-Identifier: Apache-2.0
// Which known name was meant: first by its parts, then by letters.
#include <algorithm>
#include <array>
#include <utility>

#include "model/input/diagnostic.hpp"
#include "model/quantity/precision.hpp"

namespace floorline {

namespace {

constexpr std::size_t kMaxSuggestedBytes = 64;
constexpr std::size_t kMostSuggested = 6;
constexpr std::size_t kMinPrefixBytes = 3;  // shorter prefixes match too much

std::string lower(std::string_view word) {
  std::string out(word);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

/// Insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b` (optimal
/// string alignment). Both are at most kMaxSuggestedBytes long.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  using Row = std::array<std::size_t, kMaxSuggestedBytes + 1>;
  Row before{};
  Row above{};
  Row row{};
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + change});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = above;
    above = row;
  }
  return above[b.size()];
}

bool ends_part(char c) { return c == '.' || c == '_'; }

/// `word` is the first or the last part of `name`, up to a dot or an underscore.
bool is_part_of_name(std::string_view word, std::string_view name) {
  if (word.empty() || word.size() >= name.size()) return false;
  if (name.starts_with(word) && ends_part(name[word.size()])) return true;
  return word.size() >= kMinPrefixBytes && name.ends_with(word) &&
         ends_part(name[name.size() - word.size() - 1]);
}

/// Names that begin with what was typed, or of which it is a part; each once.
std::vector<std::string> longer_names(std::string_view word,
                                      const std::vector<std::string>& candidates) {
  const std::string folded = lower(word);
  std::vector<std::string> longer;
  for (const std::string& candidate : candidates) {
    const std::string name = lower(candidate);
    const bool begins = word.size() >= kMinPrefixBytes && name.starts_with(folded);
    if (!begins && !is_part_of_name(folded, name)) continue;
    if (std::find(longer.begin(), longer.end(), candidate) == longer.end())
      longer.push_back(candidate);
  }
  return longer;
}

/// What other programs call a precision.
std::string_view precision_alias(std::string_view word) {
  using Alias = std::pair<std::string_view, std::string_view>;
  constexpr std::array<Alias, 14> kAliases{{{"half", "fp16"},
                                            {"f16", "fp16"},
                                            {"float16", "fp16"},
                                            {"bfloat16", "bf16"},
                                            {"float", "fp32"},
                                            {"single", "fp32"},
                                            {"f32", "fp32"},
                                            {"float32", "fp32"},
                                            {"double", "fp64"},
                                            {"f64", "fp64"},
                                            {"float64", "fp64"},
                                            {"f8", "fp8"},
                                            {"e4m3", "fp8_e4m3"},
                                            {"e5m2", "fp8_e5m2"}}};
  for (const Alias& alias : kAliases) {
    if (alias.first == word) return alias.second;
  }
  return word;
}

}  // namespace

std::string nearest_name(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.empty() || word.size() > kMaxSuggestedBytes) return {};
  const std::string folded = lower(word);
  const std::string* nearest = nullptr;
  const auto shorter = [&nearest](const std::string& candidate) {
    return nearest == nullptr || candidate.size() < nearest->size();
  };
  for (const std::string& candidate : candidates) {
    if (is_part_of_name(folded, lower(candidate)) && shorter(candidate)) nearest = &candidate;
  }
  if (nearest != nullptr) return *nearest;
  const std::size_t limit = std::min(std::max<std::size_t>(1, word.size() / 3), word.size() - 1);
  std::size_t least = limit + 1;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kMaxSuggestedBytes) continue;
    const std::size_t distance = edit_distance(folded, lower(candidate));
    if (distance < least) {
      least = distance;
      nearest = &candidate;
    }
  }
  if (nearest != nullptr) return *nearest;
  // None is near by letters: the shortest that begins with what was typed ("h100" of "h100_sxm").
  for (const std::string& candidate : candidates) {
    if (word.size() < kMinPrefixBytes || !lower(candidate).starts_with(folded)) continue;
    if (shorter(candidate)) nearest = &candidate;
  }
  return nearest == nullptr ? std::string() : *nearest;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::vector<std::string> longer = longer_names(word, candidates);
  if (longer.size() > 1 && longer.size() <= kMostSuggested) {
    std::string text = "; did you mean ";
    for (std::size_t i = 0; i < longer.size(); ++i) {
      if (i > 0) text += i + 1 == longer.size() ? " or " : ", ";
      text += "\"" + longer[i] + "\"";
    }
    return text + "?";
  }
  if (longer.size() == 1 && longer.front() != word)
    return "; did you mean \"" + longer.front() + "\"?";
  const std::string nearest = nearest_name(word, candidates);
  if (nearest.empty() || nearest == word) return {};
  return "; did you mean \"" + nearest + "\"?";
}

namespace {

/// "a, b": all of them, what was meant first.
std::string nearest_first(std::string_view word, std::vector<std::string> names) {
  std::vector<std::string> near = longer_names(word, names);
  near.push_back(nearest_name(word, names));
  std::stable_partition(names.begin(), names.end(), [&near](const std::string& name) {
    return std::find(near.begin(), near.end(), name) != near.end();
  });
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

std::string names_there_are(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string meant = did_you_mean(word, candidates);
  return meant + (meant.empty() ? "; there are " : " There are ") + nearest_first(word, candidates);
}

std::string not_a_precision(std::string_view word) {
  std::vector<std::string> names{"fp8"};
  for (const PrecisionInfo& p : kPrecisions) {
    if (p.bits > 0) names.emplace_back(p.name);
  }
  const std::string told = "\"" + shortened(word, kMaxSuggestedBytes) + "\" is not a precision";
  const std::string folded = lower(word);
  const std::string meant(precision_alias(folded));
  const bool known = std::find(names.begin(), names.end(), meant) != names.end();
  if (!known || meant == word) return told + names_there_are(word, names);
  return told + "; did you mean \"" + meant + "\"? There are " + nearest_first(meant, names);
}

}  // namespace floorline
