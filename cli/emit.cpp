// SPDX-License-Identifier: Apache-2.0
#include "cli/emit.hpp"

#include <filesystem>

#include "cli/refuse.hpp"
#include "model/quantity/unit_names.hpp"
#include "model/report/toml_writer.hpp"

namespace floorline {

std::string emitted_text(const Document& graph, const std::string& file) {
  return file.ends_with(".toml") ? write_toml(graph) : write_json(graph);
}

void check_emitted_name(const std::string& file) {
  if (file.empty() || file.ends_with(".json") || file.ends_with(".toml")) return;
  std::error_code error;
  const auto before = std::filesystem::status(file, error);
  if (std::filesystem::exists(before) && !std::filesystem::is_regular_file(before)) return;
  refuse("--emit", floorline::quoted(file) +
                       " is no name of a graph file; expected NAME.json or "
                       "NAME.toml");
}

}  // namespace floorline
