// SPDX-License-Identifier: Apache-2.0
#include "cli/overwrite.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "cli/locate.hpp"
#include "model/input/diagnostic.hpp"

namespace floorline {

namespace {

namespace fs = std::filesystem;

struct Argument {
  std::string flag;
  std::string value;
};

bool names_result(std::string_view flag) {
  constexpr std::array<std::string_view, 4> kResults{"--output", "--emit", "--record", "--trace"};
  return std::find(kResults.begin(), kResults.end(), flag) != kResults.end();
}

/// Words that name no file, whatever there is of that name.
bool names_no_file(std::string_view flag) {
  constexpr std::array<std::string_view, 5> kWords{"--format", "--name", "--variable", "--question",
                                                   "--boundary"};
  return std::find(kWords.begin(), kWords.end(), flag) != kWords.end();
}

void add_arguments(const CLI::App& app, std::vector<Argument>& results,
                   std::vector<Argument>& others) {
  for (const CLI::App* verb : app.get_subcommands()) {
    for (const CLI::Option* option : verb->get_options()) {
      const std::string flag = option->get_name();
      if (names_no_file(flag)) continue;
      for (const std::string& value : option->results())
        (names_result(flag) ? results : others).push_back({flag, value});
    }
    add_arguments(*verb, results, others);
  }
}

/// The files that an argument may mean: itself, what stands between its commas or after its sign,
/// and a file of such a name in the folders that are looked through.
class Meant {
 public:
  explicit Meant(const std::vector<Argument>& others)
      : folders_{device_path("").folders, workload_folders(""), hypothesis_folders("")} {
    std::vector<std::string> given;
    for (const Argument& other : others) {
      if (!other.flag.ends_with("-path")) continue;
      for (std::size_t start = 0; start <= other.value.size();) {
        const std::size_t end = std::min(other.value.find(':', start), other.value.size());
        given.push_back(other.value.substr(start, end - start));
        start = end + 1;
      }
    }
    folders_.push_back(std::move(given));
  }

  [[nodiscard]] bool same(const std::string& value, const std::string& file) const {
    const std::string_view text = value;
    const std::size_t sign = text.find('=');
    if (one(text, file)) return true;
    if (sign != std::string_view::npos && one(text.substr(sign + 1), file)) return true;
    for (std::size_t start = 0; start <= text.size();) {
      const std::size_t end = std::min(text.find(',', start), text.size());
      if (one(text.substr(start, end - start), file)) return true;
      start = end + 1;
    }
    return false;
  }

 private:
  static bool equal(const fs::path& path, const std::string& file) {
    std::error_code error;
    return fs::equivalent(path, file, error) && !error;
  }
  [[nodiscard]] bool one(std::string_view name, const std::string& file) const {
    if (name.empty()) return false;
    if (equal(fs::path(name), file)) return true;
    if (name.find('/') != std::string_view::npos) return false;
    for (const std::vector<std::string>& kind : folders_) {
      for (const std::string& folder : kind) {
        for (const char* extension : {".toml", ".json"}) {
          if (equal(fs::path(folder) / (std::string(name) + extension), file)) return true;
        }
      }
    }
    return false;
  }

  std::vector<std::vector<std::string>> folders_;
};

}  // namespace

void refuse_overwritten_inputs(const CLI::App& app) {
  std::vector<Argument> results;
  std::vector<Argument> others;
  add_arguments(app, results, others);
  std::error_code error;
  std::erase_if(results, [&error](const Argument& result) {
    return !fs::is_regular_file(result.value, error);  // nothing there that could be lost
  });
  if (results.empty()) return;
  const Meant meant(others);
  Diagnostics wrong;
  for (const Argument& result : results) {
    for (const Argument& other : others) {
      if (!meant.same(other.value, result.value)) continue;
      wrong.add(position_in("command line"), result.flag,
                "names the file of " + other.flag + ", " + result.value +
                    ", which is read; expected a file that may be replaced");
      break;
    }
  }
  wrong.throw_if_any();
}

}  // namespace floorline
