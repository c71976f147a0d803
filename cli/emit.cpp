// SPDX-License-Identifier: Apache-2.0
#include "cli/emit.hpp"

#include "model/report/toml_writer.hpp"

namespace floorline {

std::string emitted_text(const Document& graph, const std::string& file) {
  return file.ends_with(".toml") ? write_toml(graph) : write_json(graph);
}

}  // namespace floorline
