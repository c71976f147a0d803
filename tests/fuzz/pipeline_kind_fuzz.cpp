// SPDX-License-Identifier: Apache-2.0
// Pipeline kinds and serving files: whatever the text, a pipeline or an InputError; small ones run.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "model/input/diagnostic.hpp"
#include "model/input/document_node.hpp"
#include "model/timeline/kinds/kind_file.hpp"
#include "model/timeline/serving_file.hpp"

using namespace floorline;

namespace {

constexpr std::size_t kMostTasksRun = 20'000;

void run_kind(const Node& document) {
  const BuiltKind kind = read_pipeline_kind(document);
  const std::size_t tasks =
      kind.pipeline.stages.size() * static_cast<std::size_t>(kind.pipeline.items);
  if (tasks > kMostTasksRun) return;
  const Schedule schedule = make_schedule(kind.pipeline);
  if (!schedule.deadlock && kind.after) kind.after(kind.pipeline, schedule);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const Node document = parse_document(text, "fuzz");
    if (names_serving(document)) read_serving(document);
    run_kind(document);
  } catch (const InputError&) {
  }
  return 0;
}
