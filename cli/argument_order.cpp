// SPDX-License-Identifier: Apache-2.0
#include "cli/argument_order.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace floorline {

namespace {

/// "--set" of "--set=batch=1", "batch" of "batch=1" and "batch*=2", a file's name of its path.
bool names(std::string_view word, std::string_view what) {
  if (what.empty() || !word.starts_with(what)) return false;
  const std::string_view rest = word.substr(what.size());
  return rest.empty() || rest.starts_with("=") || rest.starts_with("*=");
}

/// What an argument may be called: the whole key path; NAME of "--grid NAME"; the flag before it;
/// or the flag of that name ("device").
std::array<std::string, 4> called(std::string_view what) {
  const std::size_t space = what.starts_with("--") ? what.find(' ') : std::string_view::npos;
  if (space == std::string_view::npos)
    return {std::string(what), "", "", what.empty() ? "" : "--" + std::string(what)};
  return {std::string(what), std::string(what.substr(space + 1)),
          std::string(what.substr(0, space)), ""};
}

int place_of(const Diagnostic& d, int argc, char** argv) {
  const std::string_view file = d.at.file ? std::string_view(*d.at.file) : "";
  const bool of_command_line = file.empty() || file == "command line";
  const std::string_view what = of_command_line ? std::string_view(d.key_path) : file;
  for (const std::string& wanted : called(what)) {
    for (int i = 1; i < argc; ++i) {
      const std::string_view word(argv[i]);
      if (names(word, wanted)) return i;
      const std::size_t equals = word.find('=');  // --set=batch=1
      if (word.starts_with("--") && equals != std::string_view::npos &&
          names(word.substr(equals + 1), wanted))
        return i;
    }
  }
  return argc;
}

}  // namespace

InputError in_argument_order(const InputError& error, int argc, char** argv) {
  std::vector<Diagnostic> all = error.diagnostics();
  std::stable_sort(all.begin(), all.end(), [&](const Diagnostic& a, const Diagnostic& b) {
    return place_of(a, argc, argv) < place_of(b, argc, argv);
  });
  return InputError(std::move(all));
}

}  // namespace floorline
