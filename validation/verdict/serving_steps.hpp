// SPDX-License-Identifier: Apache-2.0
// One step of a served model, of the engine's own model graphs: fused, at any residency (design
// §5).
//   TTFT  a prefill of the whole prompt of one sequence
//   TPOT  a decode step of the sequences that run together, `prompt` tokens cached each
// What is not recorded is taken as what gives the lower floor: cache and products in fp8; matrices
// of a checkpoint that is not quantized in fp8, or as precision says; the fewest experts; links as
// if one node held all ranks. Where experts are divided by tp over replicas of the attention, they
// are counted as divided by ep: the same bytes a rank. Not modelled: what an engine does beside the
// step (queueing, sampling, scheduling), which TTFT and TPOT include; several tokens a step
// (speculation).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "model/evaluate.hpp"
#include "model/workload/architecture.hpp"
#include "validation/observation/row_graph.hpp"
#include "validation/verdict/row_verdict.hpp"

namespace floorline {

class ServingSteps {
 public:
  /// Folder of config.json files, named publisher--model.json.
  explicit ServingSteps(std::string models) : models_(std::move(models)) {}
  RowVerdict verdict(const RowKeys& keys, const Reading& reading, const Machine& machine);

 private:
  const Architecture* model(std::string_view name);
  RowVerdict evaluate_step(const ServingKeys& keys, const Reading& reading, const Machine& machine);

  std::string models_;
  std::map<std::string, std::unique_ptr<Architecture>> known_;  ///< null: no such file
  std::map<std::string, RowVerdict> found_;
};

}  // namespace floorline
