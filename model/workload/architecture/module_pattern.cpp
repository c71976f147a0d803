// SPDX-License-Identifier: Apache-2.0
#include "model/workload/architecture/module_pattern.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "model/workload/scenario.hpp"

namespace floorline {

namespace {

constexpr std::string_view kLayers = "layers.";

/// From "layers." on, or without "model." and "language_model." before a name outside the layers.
std::string_view without_prefix(std::string_view text) {
  const std::size_t layers = text.find(kLayers);
  if (layers != std::string_view::npos && (layers == 0 || text[layers - 1] == '.')) {
    return text.substr(layers);
  }
  for (const std::string_view prefix : {"language_model.", "model.", "language_model."}) {
    if (text.starts_with(prefix)) text.remove_prefix(prefix.size());
  }
  return text;
}

bool of_another_tower(std::string_view text) {
  return text.find("vision") != std::string_view::npos ||
         text.find("visual") != std::string_view::npos ||
         text.find("audio") != std::string_view::npos;
}

/// "mlp.gate" is a part of "layers.3.mlp.gate.x", "mlp.gat" is not.
bool is_part(std::string_view part, std::string_view name) {
  for (std::size_t at = name.find(part); at != std::string_view::npos;
       at = name.find(part, at + 1)) {
    const std::size_t end = at + part.size();
    if ((at == 0 || name[at - 1] == '.') && (end == name.size() || name[end] == '.')) return true;
  }
  return false;
}

int layer_in(std::string_view text) {
  if (!text.starts_with(kLayers)) return -1;
  text.remove_prefix(kLayers.size());
  int layer = -1;
  const auto [stop, failed] = std::from_chars(text.data(), text.data() + text.size(), layer);
  const bool whole = stop == text.data() + text.size() || *stop == '.';
  return failed == std::errc() && whole ? layer : -1;
}

}  // namespace

ModulePattern::ModulePattern(std::string_view text, std::string& error) {
  constexpr std::string_view kRegex = "re:";
  if (text.starts_with(kRegex)) {
    kind_ = Kind::regex;
    if (of_another_tower(text)) kind_ = Kind::nothing;
    if (kind_ == Kind::regex) read_regex(text.substr(kRegex.size()), error);
    return;
  }
  if (text.empty() || of_another_tower(text)) {
    kind_ = Kind::nothing;
    return;
  }
  if (text.find('*') != std::string_view::npos) kind_ = Kind::glob;
  text_ = kind_ == Kind::glob ? text : without_prefix(text);
  if (kind_ == Kind::part) layer_ = layer_in(text_);
}

/// Characters, ".", "\.", "\d", "[0-9]", each with "*", "+" or "?"; "^" in front and "$" at the
/// end.
void ModulePattern::read_regex(std::string_view text, std::string& error) {
  if (text.starts_with('^')) text.remove_prefix(1);
  if (text.ends_with('$')) {
    at_end_ = true;
    text.remove_suffix(1);
  }
  constexpr std::size_t kMostAtoms = 256;
  for (std::size_t i = 0; i < text.size(); ++i) {
    Atom atom;
    const std::string_view rest = text.substr(i);
    if (rest.starts_with("[0-9]")) {
      atom.character = 1;
      i += 4;
    } else if (rest[0] == '\\' && rest.size() > 1) {
      atom.character = rest[1] == 'd' ? '\1' : rest[1];
      ++i;
    } else if (std::string_view("()[]{}|\\*+?^$").find(rest[0]) != std::string_view::npos) {
      error = "a pattern with \"" + std::string(1, rest[0]) +
              "\" there is not understood yet; expected characters, \".\", \"\\d\" and \"*\"";
      return;
    } else {
      atom.character = rest[0] == '.' ? '\0' : rest[0];
    }
    const char after = i + 1 < text.size() ? text[i + 1] : ' ';
    if (after == '*' || after == '?') atom.optional = true;
    if (after == '*' || after == '+') atom.repeated = true;
    if (after == '*' || after == '+' || after == '?') ++i;
    atoms_.push_back(atom);
    if (atoms_.size() > kMostAtoms) {
      error = "a pattern of more than 256 characters is not understood";
      return;
    }
  }
}

/// All ways at once: state s has matched the first s atoms. Matches from the start of the name, as
/// Python's re.match.
bool ModulePattern::regex_matches(std::string_view name) const {
  std::string now(atoms_.size() + 1, '\0');
  const auto skip_optional = [&](std::string& states) {
    for (std::size_t s = 0; s < atoms_.size(); ++s) {
      if (states[s] != 0 && atoms_[s].optional) states[s + 1] = 1;
    }
  };
  now[0] = 1;
  skip_optional(now);
  if (now.back() != 0 && !at_end_) return true;
  for (const char c : name) {
    std::string next(now.size(), '\0');
    for (std::size_t s = 0; s < atoms_.size(); ++s) {
      const Atom& atom = atoms_[s];
      const bool fits = atom.character == 0 || atom.character == c ||
                        (atom.character == 1 && c >= '0' && c <= '9');
      if (now[s] == 0 || !fits) continue;
      next[s + 1] = 1;
      if (atom.repeated) next[s] = 1;
    }
    // A repeated atom that has matched may stop: its state s is s + 1 too.
    skip_optional(next);
    now = std::move(next);
    if (now.back() != 0 && !at_end_) return true;
  }
  return now.back() != 0;
}

bool ModulePattern::matches(const std::string& module) const {
  switch (kind_) {
    case Kind::nothing:
      return false;
    case Kind::part:
      return is_part(text_, module);
    case Kind::glob:
      for (const char* prefix : {"", "model.", "model.language_model."}) {
        const std::string name = prefix + module;
        if (glob_matches(text_, name) || glob_matches(text_ + ".*", name)) return true;
      }
      return false;
    case Kind::regex:
      for (const char* prefix : {"model.", "", "model.language_model.", "language_model.model."}) {
        if (regex_matches(prefix + module)) return true;
      }
      return false;
  }
  return false;
}

}  // namespace floorline
