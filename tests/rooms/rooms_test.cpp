// SPDX-License-Identifier: Apache-2.0
// The rules that hold for source files as text: who includes whom (arrows.txt), how long a file may
// be (limits.txt), what stands in the root (top_level.txt), and two that no compiler checks.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

const Lines kCode = {".hpp", ".cpp", ".cu", ".cuh"};

Lines read_lines(const fs::path& path) {
  std::ifstream file(path);
  REQUIRE_MESSAGE(file, path.string(), " cannot be read; run in the repository root");
  Lines lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

// The lines of a table, without comments and blank lines.
Lines read_table(const fs::path& path) {
  Lines lines = read_lines(path);
  std::erase_if(lines, [](const std::string& line) { return line.empty() || line[0] == '#'; });
  REQUIRE_FALSE(lines.empty());
  return lines;
}

Lines words_of(const std::string& text) {
  std::istringstream stream(text);
  Lines words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

// Paths of all files below the folders, relative to the repository root and sorted.
Lines files_below(std::initializer_list<const char*> folders) {
  Lines files;
  for (const char* folder : folders)
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      if (entry.is_regular_file()) files.push_back(entry.path().generic_string());
  std::sort(files.begin(), files.end());
  REQUIRE_FALSE(files.empty());
  return files;
}

bool ends_with_any(std::string_view text, const Lines& endings) {
  return std::any_of(endings.begin(), endings.end(),
                     [&](const std::string& ending) { return text.ends_with(ending); });
}

// Whole-text match; `*` stands for any text.
bool matches(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] != '*')
    return !text.empty() && pattern[0] == text[0] && matches(pattern.substr(1), text.substr(1));
  for (std::size_t skipped = 0; skipped <= text.size(); ++skipped)
    if (matches(pattern.substr(1), text.substr(skipped))) return true;
  return false;
}

void check_none(const Lines& violations) {
  std::string text;
  for (const std::string& violation : violations) text += "\n  " + violation;
  CHECK_MESSAGE(violations.empty(), text);
}

// ---- arrows ----

struct Arrow {
  std::string files;
  Lines headers;
};

std::vector<Arrow> read_arrows() {
  std::vector<Arrow> arrows;
  for (const std::string& line : read_table("tests/rooms/arrows.txt")) {
    const Lines words = words_of(line);
    REQUIRE_MESSAGE((words.size() >= 3 && words[1] == "->"), line);
    arrows.push_back({words[0], Lines(words.begin() + 2, words.end())});
  }
  return arrows;
}

bool known_file(const std::vector<Arrow>& arrows, std::string_view file) {
  return std::any_of(arrows.begin(), arrows.end(),
                     [&](const Arrow& arrow) { return matches(arrow.files, file); });
}

bool allowed(const std::vector<Arrow>& arrows, std::string_view file, std::string_view header) {
  return std::any_of(arrows.begin(), arrows.end(), [&](const Arrow& arrow) {
    return matches(arrow.files, file) &&
           std::any_of(arrow.headers.begin(), arrow.headers.end(),
                       [&](const std::string& pattern) { return matches(pattern, header); });
  });
}

// The header of an include line that needs an arrow. All but the standard library's do; its names
// have no slash.
std::optional<std::string> included(const std::string& line) {
  static const std::regex kInclude(R"rx(^\s*#\s*include\s*(["<])([^">]+)[">])rx");
  std::smatch match;
  if (!std::regex_search(line, match, kInclude)) return std::nullopt;
  const std::string header = match[2];
  if (match[1] == "<" && header.find('/') == std::string::npos) return std::nullopt;
  return header;
}

// "model/floor/" of "model/floor/*.cpp", "model/evaluate." of "model/evaluate.*".
std::string room_of(const std::string& pattern) {
  const std::size_t slash = pattern.find('/', pattern.find('/') + 1);
  if (slash != std::string::npos) return pattern.substr(0, slash + 1);
  return pattern.substr(0, pattern.find_first_of(".*") + 1);
}

// "Schedule" of "struct Schedule {" and "enum class Schedule : …"; nothing of a declaration.
std::optional<std::string> defined_type(const std::string& line) {
  static const std::regex kType(
      R"rx(^(?:struct|class|enum class) (\w+)(?: final)?\s*(?::[^:].*)?\{)rx");
  std::smatch match;
  if (!std::regex_search(line, match, kType)) return std::nullopt;
  return match[1];
}

// The namespace that a header opens: "floorline", "floorline::bodies".
std::string namespace_of(const Lines& lines) {
  for (const std::string& line : lines) {
    if (line.starts_with("namespace ") && line.ends_with(" {"))
      return line.substr(10, line.size() - 12);
  }
  return "";
}

Lines top_level_entries() {
  std::set<std::string> entries;
  FILE* pipe = popen("git ls-files --cached --others --exclude-standard 2>/dev/null", "r");
  if (pipe == nullptr) return {};
  std::array<char, 4096> buffer{};
  while (std::fgets(buffer.data(), int{buffer.size()}, pipe) != nullptr) {
    const std::string path(buffer.data());
    entries.insert(path.substr(0, path.find_first_of("/\n")));
  }
  pclose(pipe);
  return {entries.begin(), entries.end()};
}

}  // namespace

TEST_SUITE("rooms") {
  TEST_CASE("the arrows refuse what they should") {
    const auto arrows = read_arrows();
    CHECK(allowed(arrows, "model/device/device_file.cpp", "model/input/table_reader.hpp"));
    CHECK(allowed(arrows, "model/demand/matmul.cpp", "model/device/on_chip.hpp"));
    CHECK(allowed(arrows, "model/workload/architecture/llama.cpp", "model/input/json_reader.hpp"));
    CHECK(allowed(arrows, "model/input/json_reader.cpp", "nlohmann/json.hpp"));
    CHECK(allowed(arrows, "cli/bound.cpp", "model/evaluate.hpp"));

    CHECK_FALSE(allowed(arrows, "model/device/device.hpp", "model/workload/graph.hpp"));
    CHECK_FALSE(allowed(arrows, "model/workload/graph.hpp", "model/device/device.hpp"));
    CHECK_FALSE(allowed(arrows, "model/device/device.cpp", "model/input/table_reader.hpp"));
    CHECK_FALSE(allowed(arrows, "model/demand/matmul.cpp", "model/device/device.hpp"));
    CHECK_FALSE(allowed(arrows, "model/floor/floor.cpp", "model/report/document.hpp"));
    CHECK_FALSE(allowed(arrows, "model/evaluate.cpp", "validation/verdict/verdict.hpp"));
    CHECK_FALSE(allowed(arrows, "model/input/json_reader.hpp", "nlohmann/json.hpp"));
    CHECK_FALSE(allowed(arrows, "model/device/device_file.cpp", "toml++/toml.h"));
    CHECK_FALSE(allowed(arrows, "cli/options.hpp", "CLI/CLI.hpp"));
    CHECK_FALSE(known_file(arrows, "model/common/strings.hpp"));
  }

  TEST_CASE("which include lines need an arrow") {
    CHECK(included("#include <vector>") == std::nullopt);
    CHECK(included("  # include \"model/a.hpp\"  // why") == "model/a.hpp");
    CHECK(included("#include <toml++/toml.h>") == "toml++/toml.h");
    CHECK(included("// #include \"model/a.hpp\"") == std::nullopt);
  }

  TEST_CASE("arrows point up the list, so there is no cycle") {
    const auto arrows = read_arrows();
    Lines violations;
    for (auto arrow = arrows.begin(); arrow != arrows.end(); ++arrow)
      for (const std::string& header : arrow->headers)
        for (auto below = arrow + 1; below != arrows.end(); ++below)
          if (room_of(below->files) != room_of(arrow->files) &&
              (matches(header, below->files) || matches(below->files, header)))
            violations.push_back(arrow->files + " -> " + header + ": named further down");
    check_none(violations);
  }

  // Two types of one name link without a word, and one is then read as the other.
  TEST_CASE("no two headers define a type of one name") {
    CHECK(defined_type("struct Grid {") == "Grid");
    CHECK(defined_type("enum class Event : std::uint8_t { finish, start };") == "Event");
    CHECK(defined_type("class GridReader final : public Reader {") == "GridReader");
    CHECK(defined_type("struct Grid;") == std::nullopt);
    std::map<std::string, std::string> where;
    Lines violations;
    for (const std::string& file : files_below({"model", "validation", "cli"})) {
      if (!file.ends_with(".hpp") && !file.ends_with(".cuh")) continue;
      const Lines lines = read_lines(file);
      const std::string space = namespace_of(lines);
      for (const std::string& line : lines) {
        const auto type = defined_type(line);
        if (!type) continue;
        const auto [first, is_new] = where.emplace(space + "::" + *type, file);
        if (!is_new) violations.push_back(first->first + ": " + first->second + " and " + file);
      }
    }
    check_none(violations);
  }

  TEST_CASE("every include follows an arrow") {
    const auto arrows = read_arrows();
    Lines violations;
    for (const std::string& file : files_below({"model", "validation", "cli"})) {
      if (!ends_with_any(file, kCode)) continue;
      if (!known_file(arrows, file)) violations.push_back(file + ": in no room of arrows.txt");
      int number = 0;
      for (const std::string& line : read_lines(file)) {
        ++number;
        const auto header = included(line);
        if (header && !allowed(arrows, file, *header))
          violations.push_back(file + ":" + std::to_string(number) + ": no arrow to " + *header);
      }
    }
    check_none(violations);
  }

  TEST_CASE("no file is longer than its limit") {
    const Lines limits = read_table("tests/rooms/limits.txt");
    Lines files = files_below({"model", "validation", "cli", "tests", "devices"});
    for (const char* file : {"CMakeLists.txt", "README.md"})
      if (fs::exists(file)) files.emplace_back(file);
    Lines violations;
    for (const std::string& file : files) {
      std::size_t limit = 0;
      for (const std::string& line : limits) {
        const Lines words = words_of(line);
        REQUIRE(words.size() == 2);
        const bool in_any_folder = words[0].find('/') == std::string::npos && words[0][0] == '*';
        if (file == words[0] || matches(words[0], file) ||
            (in_any_folder && matches("*/" + words[0], file)))
          limit = std::stoul(words[1]);
      }
      if (limit == 0) continue;
      const std::size_t length = read_lines(file).size();
      if (length > limit)
        violations.push_back(file + ": " + std::to_string(length) + " lines, limit " +
                             std::to_string(limit));
    }
    check_none(violations);
  }

  TEST_CASE("no physical amount is a double in a header") {
    const std::regex amount(R"(\bdouble&?\s+(\w*(bytes|flops|seconds)\w*)\s*([^\w\s(]|$))",
                            std::regex::icase);
    CHECK(std::regex_search("void f(double hbm_bytes, int n);", amount));
    CHECK(std::regex_search("  double total_flops = 0;", amount));
    CHECK_FALSE(std::regex_search("double in_seconds() const;", amount));
    Lines violations;
    for (const std::string& file : files_below({"model", "validation", "cli"})) {
      if (!ends_with_any(file, {".hpp", ".cuh"})) continue;
      int number = 0;
      for (const std::string& line : read_lines(file)) {
        ++number;
        const std::string code = line.substr(0, line.find("//"));
        std::smatch match;
        if (std::regex_search(code, match, amount))
          violations.push_back(file + ":" + std::to_string(number) + ": double " + match[1].str());
      }
    }
    check_none(violations);
  }

  TEST_CASE("every source file names its licence") {
    const Lines sources = {".hpp",        ".cpp",      ".cu",         ".cuh",
                           ".py",         ".sh",       ".cmake",      "CMakeLists.txt",
                           "/quickstart", "tests/run", "format/check"};
    Lines files = files_below({"model", "validation", "cli", "tests"});
    files.push_back("CMakeLists.txt");
    Lines violations;
    for (const std::string& file : files) {
      if (!ends_with_any(file, sources)) continue;
      const Lines lines = read_lines(file);
      const auto end = lines.begin() + std::min<std::ptrdiff_t>(2, std::ssize(lines));
      if (std::none_of(lines.begin(), end, [](const std::string& line) {
            return line == "// SPDX-License-Identifier: Apache-2.0" ||
                   line == "# SPDX-License-Identifier: Apache-2.0";
          }))
        violations.push_back(file);
    }
    check_none(violations);
  }

  TEST_CASE("the root holds what it should and nothing else") {
    const Lines expected = read_table("tests/rooms/top_level.txt");
    const Lines present = top_level_entries();
    if (present.empty()) {
      MESSAGE("skipped: git does not list this tree");
      return;
    }
    Lines violations;
    for (const std::string& entry : present)
      if (std::find(expected.begin(), expected.end(), entry) == expected.end())
        violations.push_back(entry + ": not in top_level.txt");
    for (const std::string& entry : expected)
      if (std::find(present.begin(), present.end(), entry) == present.end())
        violations.push_back(entry + ": missing");
    check_none(violations);
  }
}
