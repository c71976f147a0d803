// SPDX-License-Identifier: Apache-2.0
#include "cli/emit.hpp"

#include "cli/output.hpp"
#include "model/report/toml_writer.hpp"

namespace floorline {

void emit_graph(const Document& graph, const std::string& file) {
  write_file(file, "--emit", file.ends_with(".toml") ? write_toml(graph) : write_json(graph));
}

}  // namespace floorline
