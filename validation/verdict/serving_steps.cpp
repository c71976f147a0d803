// SPDX-License-Identifier: Apache-2.0
#include "validation/verdict/serving_steps.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include "model/evaluate_model.hpp"
#include "model/workload/architecture_file.hpp"

namespace floorline {

namespace {

struct ModelFile {
  std::string_view model, file;
};
// Of the same shapes under another name.
constexpr std::array<ModelFile, 5> kFiles{
    {{"meta-llama/Llama-3.1-8B-Instruct", "meta-llama--Meta-Llama-3.1-8B"},
     {"nvidia/Llama-3.1-8B-Instruct-FP8", "meta-llama--Meta-Llama-3.1-8B"},
     {"meta-llama/Llama-3.1-70B", "meta-llama--Meta-Llama-3.1-70B"},
     {"Qwen/Qwen3-235B-A22B-FP8", "Qwen--Qwen3-235B-A22B"},
     {"Qwen/Qwen3-32B", "Qwen--Qwen3-32B"}}};

std::string file_of(std::string_view model) {
  for (const ModelFile& known : kFiles) {
    if (known.model == model) return std::string(known.file) + ".json";
  }
  std::string name(model);
  const std::size_t slash = name.find('/');
  if (slash != std::string::npos) name.replace(slash, 1, "--");
  return name + ".json";
}

/// Experts may be spread over more ranks than the attention of one replica has.
ParallelLayout layout_of(const ServingKeys& keys) {
  ParallelLayout layout;
  layout.tp = keys.tp;
  layout.pp = keys.pp;
  const std::int64_t expert_ranks = keys.moe_tp * keys.moe_ep;
  layout.dp = std::max(keys.attention_dp, expert_ranks / keys.tp);
  layout.ep = layout.dp > 1 ? std::max(expert_ranks, keys.tp * layout.dp) : keys.moe_ep;
  return layout;
}

Scenario scenario_of(const ServingKeys& keys, const Architecture& model, bool one_sequence) {
  Scenario scenario;
  scenario.phase = keys.first_token ? Phase::prefill : Phase::decode;
  scenario.batch = keys.first_token || one_sequence ? 1 : keys.sequences;
  if (keys.first_token) {
    scenario.prompt = keys.prompt;
  } else {
    scenario.context = keys.prompt;
  }
  scenario.kv_dtype = Precision::fp8_e4m3;
  scenario.compute_dtype = Precision::fp8_e4m3;
  scenario.accumulate_dtype = Precision::any;
  if (keys.precision == "fp4") {
    scenario.weight_dtype = Precision::mxfp4;
  } else if (keys.precision == "int4") {
    scenario.weight_dtype = Precision::int4;
  } else if (model.quantization.empty()) {
    scenario.weight_dtype = Precision::fp8_e4m3;
  }
  return scenario;
}

Floor floor_of_time(Seconds time, ResourceId binding) {
  Floor floor;
  if (!(time > Seconds(0))) return floor;
  floor.terms[0].resource = binding;
  floor.terms[0].time = time;
  floor.count = 1;
  floor.binding = 0;
  return floor;
}

/// Which ranks share a node is not recorded.
Machine one_node(const Machine& machine) {
  Machine all = machine;
  all.chip.devices_per_node = 0;
  all.chip.in_network_reduction_possible = true;
  all.chip.multicast_possible = true;
  return all;
}

}  // namespace

const Architecture* ServingSteps::model(std::string_view name) {
  const std::string file = file_of(name);
  const auto [held, is_new] = known_.try_emplace(file);
  if (is_new) {
    const std::filesystem::path path = std::filesystem::path(models_) / file;
    std::error_code absent;
    if (std::filesystem::is_regular_file(path, absent)) {
      held->second = std::make_unique<Architecture>(load_architecture(path.string()));
    }
  }
  return held->second.get();
}

RowVerdict ServingSteps::verdict(const RowKeys& keys, const Reading& reading,
                                 const Machine& machine) {
  const std::string name =
      machine.device.name + " " + describe(keys) + (reading.one_sequence ? " alone" : "");
  const auto held = found_.find(name);
  if (held != found_.end()) return held->second;
  RowVerdict row;
  try {
    row = evaluate_step(std::get<ServingKeys>(keys.work), reading, machine);
  } catch (const InputError& error) {
    row.not_judged = error.diagnostics().front().message;
  }
  return found_[name] = row;
}

RowVerdict ServingSteps::evaluate_step(const ServingKeys& keys, const Reading& reading,
                                       const Machine& machine) {
  RowVerdict row;
  const Architecture* architecture = model(keys.model);
  if (architecture == nullptr) {
    row.not_judged = "serving: no configuration of " + std::string(keys.model);
    return row;
  }
  const bool known = keys.precision.empty() || keys.precision == "fp8" || keys.precision == "fp4" ||
                     keys.precision == "int4";
  if (!known) {
    row.not_judged = "serving: precision " + std::string(keys.precision) + " is not known";
    return row;
  }
  const ModelWorkload workload{
      *architecture, scenario_of(keys, *architecture, reading.one_sequence), layout_of(keys), {}};
  const ModelEvaluation step = evaluate_model(workload, one_node(machine));
  const GraphFloors& shown = step.shown.floors;
  const ResidencyTimes& times = step.floors.judging.latency;
  row.demand.flops = step.floors.judging.work_per_rank;
  row.demand.hbm_read = step.floors.judging.traffic_per_rank;
  row.cold = floor_of_time(times.cold, shown.fused_binding);
  row.any = floor_of_time(times.any, shown.fused_binding);
  if (!shown.proven || !shown.any_known) {
    row.not_judged = "a rate of " + machine.device.name + " has no proven ceiling";
  }
  return row;
}

}  // namespace floorline
