// SPDX-License-Identifier: Apache-2.0
#include "model/ledger/size_ledger.hpp"

namespace floorline {

TrainingLedger size_ledger(const ModelSize& size, const Scenario& scenario,
                           const ParallelLayout& layout) {
  const Precision dtype = scenario.weight_dtype.value_or(Precision::bf16);
  const std::int64_t ranks = layout.tp * layout.pp;
  TrainedParameters parameters;
  parameters.elements[static_cast<std::size_t>(dtype)] = size.parameters;
  const bool trains = scenario.phase == Phase::train;
  TrainingLedger result;
  result.ledger.instants = trains ? training_instants() : std::vector<std::string>{"load"};
  add_parameter_lines(parameters.share(ranks), scenario.training, layout.dp, result.ledger);
  if (!trains) result.ledger.lines.resize(1);
  if (!scenario.weight_dtype) result.assumptions.emplace_back("weight_dtype = bf16 (default)");
  if (trains) {
    result.assumptions.push_back(
        std::string("optimizer = ") + std::string(name_of(scenario.training.optimizer)) +
        ", grad_dtype = " + std::string(name_of(scenario.training.grad_dtype)) +
        ", zero = " + std::to_string(scenario.training.zero));
  }
  if (ranks > 1) result.assumptions.emplace_back("all parameters are divided by tp x pp alike");
  result.notes.emplace_back(
      trains ? "activations and logits are unknown: only the number of parameters is known"
             : "KV cache and activations are unknown: only the number of parameters is known");
  if (size.active) result.notes.emplace_back("active parameters change no bytes that are kept");
  return result;
}

}  // namespace floorline
