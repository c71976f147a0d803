// SPDX-License-Identifier: Apache-2.0
#include "model/workload/scenario.hpp"

#include <algorithm>
#include <array>

#include "model/workload/default_precision.hpp"

namespace floorline {

namespace {

constexpr std::int64_t kDecodeContext = 1024;
constexpr std::array<std::string_view, 4> kPhaseNames{"decode", "prefill", "generate", "train"};
constexpr std::array<std::string_view, 3> kLogitsNames{"last", "all", "none"};

bool is_set(const Scenario& scenario, std::string_view name) {
  return std::find(scenario.given.begin(), scenario.given.end(), name) != scenario.given.end();
}

}  // namespace

std::string_view name_of(Phase phase) { return kPhaseNames[static_cast<std::size_t>(phase)]; }
std::string_view name_of(LatentForm form) {
  constexpr std::array<std::string_view, 3> kNames{"least", "absorbed", "expanded"};
  return kNames[static_cast<std::size_t>(form)];
}
std::string_view name_of(Recompute recompute) {
  constexpr std::array<std::string_view, 3> kNames{"none", "selective", "full"};
  return kNames[static_cast<std::size_t>(recompute)];
}
std::string_view name_of(OptimizerKind optimizer) {
  constexpr std::array<std::string_view, 4> kNames{"adamw", "adamw8bit", "adamw_bf16", "sgd"};
  return kNames[static_cast<std::size_t>(optimizer)];
}
std::string_view name_of(PipelineSchedule schedule) {
  constexpr std::array<std::string_view, 3> kNames{"1f1b", "interleaved", "gpipe"};
  return kNames[static_cast<std::size_t>(schedule)];
}
std::string_view name_of(AttentionScores scores) {
  return scores == AttentionScores::eager ? "eager" : "flash";
}
std::string_view name_of(Logits logits) { return kLogitsNames[static_cast<std::size_t>(logits)]; }

std::int64_t Scenario::new_tokens() const {
  if (phase == Phase::train) return training.sequence;
  return phase == Phase::decode ? tokens_per_step : prompt;
}

std::int64_t Scenario::cached() const {
  return context.value_or(phase == Phase::decode ? kDecodeContext : 0);
}

std::int64_t Scenario::sequences() const {
  if (phase == Phase::train) return training.micro_batch * training.accumulation;
  if (contexts.empty()) return batch;
  std::int64_t count = 0;
  for (const ContextGroup& group : contexts) count += group.count;
  return count;
}

Logits Scenario::logits_rows() const {
  const bool all = phase == Phase::decode || phase == Phase::train;
  return logits.value_or(all ? Logits::all : Logits::last);
}

std::vector<std::string> defaults_used(const Scenario& scenario, const ParallelLayout& layout) {
  const Phase phase = scenario.phase;
  std::vector<std::string> lines;
  const auto line = [&](std::string_view name, const std::string& value) {
    if (!is_set(scenario, name)) lines.push_back(std::string(name) + " = " + value + " (default)");
  };
  line("phase", std::string(name_of(phase)));
  if (phase == Phase::train) {
    const TrainingPlan& t = scenario.training;
    line("sequence", std::to_string(t.sequence));
    line("micro_batch", std::to_string(t.micro_batch));
    line("gradient_accumulation", std::to_string(t.accumulation));
    line("recompute", std::string(name_of(t.recompute)));
    line("zero", std::to_string(t.zero));
    line("optimizer", std::string(name_of(t.optimizer)));
    line("grad_dtype", std::string(name_of(t.grad_dtype)));
  } else if (scenario.contexts.empty()) {
    line("batch", std::to_string(scenario.batch));
    line("context", std::to_string(scenario.cached()));
  }
  if (phase == Phase::prefill || phase == Phase::generate)
    line("prompt", std::to_string(scenario.prompt));
  if (phase == Phase::decode || phase == Phase::generate)
    line("tokens_per_step", std::to_string(scenario.tokens_per_step));
  if (phase == Phase::generate) line("output", std::to_string(scenario.output));
  if (phase != Phase::train) line("logits", std::string(name_of(scenario.logits_rows())));
  if (layout.tp == 1) line("tp", "1");
  if (layout.pp == 1) line("pp", "1");
  if (layout.dp == 1) line("dp", "1");
  return lines;
}

GenerateParts generate_parts(const Scenario& scenario) {
  GenerateParts parts{scenario, scenario, scenario.output};
  parts.prefill.phase = Phase::prefill;
  parts.decode.phase = Phase::decode;
  parts.decode.context = scenario.cached() + scenario.prompt;
  return parts;
}

Precision activation_storage(const Architecture& architecture, const Scenario& scenario) {
  const Precision stored = architecture.dtype;
  const bool wide = storage_bits(stored) >= storage_bits(Precision::bf16);
  return scenario.activation_dtype.value_or(wide ? stored : Precision::bf16);
}

Precision kv_storage(const Architecture& architecture, const Scenario& scenario) {
  const Precision stated = architecture.kv_dtype;
  const bool none = stated == Precision::none;
  return scenario.kv_dtype.value_or(none ? activation_storage(architecture, scenario) : stated);
}

Precision weight_storage(const NamedWeight& weight, const Scenario& scenario) {
  Precision storage = weight.storage;
  if (weight.scale) return storage;
  const bool layer_matrix = weight.group >= 0 && weight.rows > 1 && weight.cols > 1;
  if (scenario.weight_dtype && layer_matrix) storage = *scenario.weight_dtype;
  for (const WeightDtype& rule : scenario.weight_dtypes) {
    if (glob_matches(rule.glob, weight.name)) storage = rule.dtype;
  }
  return storage;
}

bool keeps_storage(const NamedWeight& weight, const Scenario& scenario) {
  return weight_storage(weight, scenario) == weight.storage;
}

std::vector<NamedWeight> scales_asked_for(const NamedWeight& weight, const Scenario& scenario) {
  const Precision stored = weight_storage(weight, scenario);
  const bool has_own = stored == Precision::mxfp4 || stored == Precision::nvfp4;
  const bool narrow = storage_bits(stored) < storage_bits(Precision::bf16) && !has_own;
  const std::int64_t group = scenario.weight_group_size;
  const bool matrix = weight.rows > 1 && weight.cols > 1 && !weight.scale;
  if (group <= 0 || !narrow || !matrix || keeps_storage(weight, scenario)) return {};
  std::vector<NamedWeight> all;
  const auto add = [&](const char* suffix, Precision storage) {
    if (storage == Precision::none) return;
    NamedWeight scale = weight;
    scale.name += suffix;
    scale.cols = (weight.cols + group - 1) / group;
    scale.storage = storage;
    scale.compute = Precision::none;
    scale.scale = true;
    const bool by_row = weight.sharding == Sharding::row;
    if (by_row && scale.cols == 1) scale.sharding = Sharding::replicated;
    if (by_row) scale.unit = std::max<std::int64_t>(1, weight.unit / group);
    all.push_back(std::move(scale));
  };
  add("_scale", scenario.weight_scale_dtype);
  add("_zero_point", scenario.weight_zero_dtype);
  return all;
}

MatrixPrecision matrix_precision(Precision a, Precision b, const Scenario& scenario) {
  const Precision compute = scenario.compute_dtype.value_or(widest_storage(a, b));
  return {compute, scenario.accumulate_dtype.value_or(default_accumulate(compute))};
}

namespace {

/// The last star takes one character more whenever what follows it fails to match.
bool matches_whole(std::string_view glob, std::string_view text) {
  std::size_t g = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t taken = 0;
  while (t < text.size()) {
    if (g < glob.size() && glob[g] == '*') {
      star = g++;
      taken = t;
    } else if (g < glob.size() && (glob[g] == '?' || glob[g] == text[t])) {
      ++g;
      ++t;
    } else if (star != std::string_view::npos) {
      g = star + 1;
      t = ++taken;
    } else {
      return false;
    }
  }
  while (g < glob.size() && glob[g] == '*') ++g;
  return g == glob.size();
}

}  // namespace

bool glob_matches(std::string_view glob, std::string_view weight_name) {
  constexpr std::string_view kSuffix = ".weight";
  if (matches_whole(glob, weight_name)) return true;
  if (!weight_name.ends_with(kSuffix)) return false;
  return matches_whole(glob, weight_name.substr(0, weight_name.size() - kSuffix.size()));
}

}  // namespace floorline
