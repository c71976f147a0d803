// SPDX-License-Identifier: Apache-2.0
// The symbols of a model: names, defaults, meanings, and how their values are read.
#include <algorithm>
#include <array>
#include <charconv>

#include "model/input/diagnostic.hpp"
#include "model/workload/scenario.hpp"

namespace floorline {

namespace {

// Larger than any run; products of two still fit 63 bits.
constexpr std::int64_t kMostTokens = std::int64_t{1} << 30U;
constexpr std::int64_t kMostSteps = std::int64_t{1} << 20U;  // of generate: each one is summed
constexpr std::int64_t kMostRanks = std::int64_t{1} << 15U;
constexpr std::int64_t kMostDivided = 3;  // stages of ZeRO

constexpr std::array kSymbols{
    SymbolInfo{"phase", "decode",
               "decode, prefill, generate (a prefill, then output decode steps) or train"},
    SymbolInfo{"batch", "1", "sequences of one replica"},
    SymbolInfo{"prompt", "1024", "new tokens of a sequence (prefill, generate)"},
    SymbolInfo{
        "context", "1024 in decode, else 0",
        "tokens cached before the step; a list such as 4096*16,128*48 gives each sequence its "
        "own and the batch with it"},
    SymbolInfo{"output", "256", "decode steps of generate"},
    SymbolInfo{"logits", "all in decode, else last", "tokens that get logits: last, all or none"},
    SymbolInfo{"routing", "least",
               "experts that the floor counts: least (of any data), uniform (the mean), all"},
    SymbolInfo{"mla", "least", "latent attention: least, absorbed or expanded"},
    SymbolInfo{"tokens_per_step", "1", "new tokens of a sequence in a decode step"},
    SymbolInfo{"sequence", "2048", "train: tokens of a sequence"},
    SymbolInfo{"micro_batch", "1", "train: sequences of one pass on one replica"},
    SymbolInfo{"gradient_accumulation", "1", "train: passes before the optimizer's step"},
    SymbolInfo{"recompute", "none", "train: none, selective (attention) or full (whole layers)"},
    SymbolInfo{"zero", "0",
               "train: dp ranks divide 1 optimizer state, 2 gradients too, 3 weights too (FSDP)"},
    SymbolInfo{"optimizer", "adamw",
               "train: adamw, adamw8bit, adamw_bf16 (no master) or sgd (momentum)"},
    SymbolInfo{"grad_dtype", "bf16", "train: storage of the weights' gradients"},
    SymbolInfo{"sequence_parallel", "0",
               "train, ledger: 1: rows outside attention and MLP are divided over tp too"},
    SymbolInfo{"dropout", "0", "train, ledger: 1: masks are kept for the backward pass"},
    SymbolInfo{"attention_scores", "flash",
               "train, ledger: flash (computed again) or eager (kept)"},
    SymbolInfo{"schedule", "1f1b", "train, ledger: 1f1b, interleaved or gpipe"},
    SymbolInfo{"interleave", "1", "train, ledger: parts of a stage in an interleaved schedule"},
    SymbolInfo{"tp", "1", "tensor parallel ranks"},
    SymbolInfo{"pp", "1", "pipeline stages"},
    SymbolInfo{"ep", "1",
               "expert parallel ranks: of the tp ranks, or whole replicas that share experts"},
    SymbolInfo{"dp", "1", "replicas; batch is that of one"},
    SymbolInfo{"cp", "1", "context parallel ranks: of new tokens, in decode of each cache"},
    SymbolInfo{
        "weight_dtype", "as the checkpoint",
        "storage of the layers' matrices, not of embedding and lm_head (of a graph file: of all "
        "matrices); weight_dtype.GLOB: of the weights so named"},
    SymbolInfo{"weight_group_size", "0 (not counted)",
               "elements of a row that share a scale in matrices stored narrower than their "
               "checkpoint: 32, 128, or the row's length for one scale a row"},
    SymbolInfo{"weight_scale_dtype", "bf16", "storage of those scales"},
    SymbolInfo{"weight_zero_dtype", "none", "storage of zero points beside them"},
    SymbolInfo{"activation_dtype", "as the checkpoint, at least 16 bits", "storage of activations"},
    SymbolInfo{"kv_dtype", "as activations", "storage of the KV cache"},
    SymbolInfo{"compute_dtype", "the wider operand", "arithmetic of matrix products and attention"},
    SymbolInfo{"accumulate_dtype", "fp32 (int32 for integers)", "sums of matrix products"},
};

std::string in_quotes(std::string_view value) { return "\"" + std::string(value) + "\""; }

struct Range {
  std::int64_t least = 0;
  std::int64_t most = kMostTokens;
};

/// A whole number, with Ki or Mi for 1024 and 1048576.
std::string read_number(std::string_view value, Range range, std::int64_t& out) {
  std::int64_t scale = 1;
  std::string_view digits = value;
  if (digits.ends_with("Ki")) scale = std::int64_t{1} << 10U;
  if (digits.ends_with("Mi")) scale = std::int64_t{1} << 20U;
  if (scale > 1) digits.remove_suffix(2);
  std::int64_t number = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, failed] = std::from_chars(digits.data(), end, number);
  const bool whole = failed == std::errc() && stop == end && !digits.empty();
  const bool small = whole && number <= range.most / scale;
  if (!small || number < 0 || number * scale < range.least) {
    return in_quotes(value) + " is not a whole number from " + std::to_string(range.least) +
           " to " + std::to_string(range.most);
  }
  out = number * scale;
  return {};
}

template <class Enum, std::size_t N>
std::string read_choice(std::string_view value, const std::array<Enum, N>& all, Enum& out) {
  std::string expected;
  for (const Enum choice : all) {
    if (name_of(choice) == value) {
      out = choice;
      return {};
    }
    expected += (expected.empty() ? "" : ", ") + std::string(name_of(choice));
  }
  return in_quotes(value) + " is not one of " + expected;
}

std::string read_precision(std::string_view value, std::optional<Precision>& out) {
  const std::optional<Precision> precision = precision_from(value);
  if (!precision || *precision == Precision::any) return not_a_precision(value);
  out = precision;
  return {};
}

/// "4096*16,128*48": lengths times counts; a length alone is one sequence.
std::string read_contexts(std::string_view value, std::vector<ContextGroup>& out) {
  constexpr std::size_t kMostGroups = 100000;
  std::vector<ContextGroup> groups;
  std::int64_t sequences = 0;
  for (std::string_view rest = value; !rest.empty() || groups.empty();) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view item = rest.substr(0, comma);
    const std::size_t star = std::min(item.find('*'), item.size());
    ContextGroup group;
    std::string wrong = read_number(item.substr(0, star), {0, kMostTokens}, group.context);
    if (wrong.empty() && star < item.size()) {
      wrong = read_number(item.substr(star + 1), {1, kMostTokens}, group.count);
    }
    if (!wrong.empty()) return wrong + "; expected a length, or LENGTH*COUNT,LENGTH*COUNT…";
    sequences += group.count;
    if (groups.size() == kMostGroups || sequences > kMostTokens) {
      return "too many sequences; expected at most " + std::to_string(kMostTokens) + " in " +
             std::to_string(kMostGroups) + " groups";
    }
    groups.push_back(group);
    if (comma == rest.size()) break;
    rest.remove_prefix(comma + 1);
    if (rest.empty()) return in_quotes(value) + " ends in a comma; expected one more length";
  }
  out = std::move(groups);
  return {};
}

std::string read_context(std::string_view value, Scenario& scenario) {
  if (value.find_first_of(",*") == std::string_view::npos) {
    std::int64_t context = 0;
    std::string wrong = read_number(value, {0, kMostTokens}, context);
    if (!wrong.empty()) return wrong;
    scenario.context = context;
    scenario.contexts.clear();
    return {};
  }
  std::string wrong = read_contexts(value, scenario.contexts);
  if (wrong.empty()) scenario.context.reset();
  return wrong;
}

std::string read_logits(std::string_view value, std::optional<Logits>& out) {
  Logits logits = Logits::last;
  std::string wrong =
      read_choice(value, std::array{Logits::last, Logits::all, Logits::none}, logits);
  if (wrong.empty()) out = logits;
  return wrong;
}

std::string read_weight_dtype(std::string_view glob, std::string_view value, Scenario& scenario) {
  std::optional<Precision> dtype;
  std::string wrong = read_precision(value, dtype);
  if (wrong.empty()) scenario.weight_dtypes.push_back({std::string(glob), *dtype});
  return wrong;
}

std::string read_scale_dtype(std::string_view value, bool optional, Precision& out) {
  if (optional && value == "none") {
    out = Precision::none;
    return {};
  }
  std::optional<Precision> dtype;
  std::string wrong = read_precision(value, dtype);
  if (!wrong.empty()) return wrong + (optional ? ", or none" : "");
  if (storage_bits(*dtype) == 0) return in_quotes(value) + " stores nothing; expected bf16, fp32…";
  out = *dtype;
  return {};
}

/// Sizes: where each lives, and from what number on.
std::int64_t* size_of(std::string_view name, Scenario& scenario, Range& range) {
  range.least = 1;
  if (name == "batch") return &scenario.batch;
  if (name == "prompt") return &scenario.prompt;
  if (name == "tokens_per_step") return &scenario.tokens_per_step;
  if (name == "sequence") return &scenario.training.sequence;
  if (name == "micro_batch") return &scenario.training.micro_batch;
  if (name == "gradient_accumulation") return &scenario.training.accumulation;
  range.least = 0;
  if (name == "output") {
    range.most = kMostSteps;
    return &scenario.output;
  }
  if (name == "weight_group_size") return &scenario.weight_group_size;
  range.most = kMostDivided;
  if (name == "zero") return &scenario.training.zero;
  return nullptr;
}

std::int64_t* degree_of(std::string_view name, ParallelLayout& layout) {
  if (name == "tp") return &layout.tp;
  if (name == "pp") return &layout.pp;
  if (name == "ep") return &layout.ep;
  if (name == "dp") return &layout.dp;
  if (name == "cp") return &layout.cp;
  return nullptr;
}

std::optional<Precision>* precision_of(std::string_view name, Scenario& scenario) {
  if (name == "weight_dtype") return &scenario.weight_dtype;
  if (name == "activation_dtype") return &scenario.activation_dtype;
  if (name == "kv_dtype") return &scenario.kv_dtype;
  if (name == "compute_dtype") return &scenario.compute_dtype;
  if (name == "accumulate_dtype") return &scenario.accumulate_dtype;
  return nullptr;
}

std::string read_switch(std::string_view value, bool& out) {
  if (value != "0" && value != "1") return in_quotes(value) + " is neither 0 nor 1";
  out = value == "1";
  return {};
}

/// What only memory depends on.
SymbolResult apply_training_memory(std::string_view name, std::string_view value,
                                   TrainingMemory& memory) {
  if (name == "sequence_parallel") return {true, read_switch(value, memory.sequence_parallel)};
  if (name == "dropout") return {true, read_switch(value, memory.dropout)};
  if (name == "attention_scores") {
    constexpr std::array kAll{AttentionScores::flash, AttentionScores::eager};
    return {true, read_choice(value, kAll, memory.attention_scores)};
  }
  if (name == "schedule") {
    constexpr std::array kAll{PipelineSchedule::one_forward_one_backward,
                              PipelineSchedule::interleaved, PipelineSchedule::gpipe};
    return {true, read_choice(value, kAll, memory.schedule)};
  }
  if (name != "interleave") return {false, {}};
  constexpr std::int64_t kMostParts = 1024;
  return {true, read_number(value, {1, kMostParts}, memory.interleave)};
}

/// Words and precisions of a training step.
SymbolResult apply_training(std::string_view name, std::string_view value, TrainingPlan& plan) {
  if (name == "recompute") {
    constexpr std::array kAll{Recompute::none, Recompute::selective, Recompute::full};
    return {true, read_choice(value, kAll, plan.recompute)};
  }
  if (name == "optimizer") {
    constexpr std::array kAll{OptimizerKind::adamw, OptimizerKind::adamw8bit,
                              OptimizerKind::adamw_bf16, OptimizerKind::sgd};
    return {true, read_choice(value, kAll, plan.optimizer)};
  }
  if (name != "grad_dtype") return {false, {}};
  std::optional<Precision> dtype;
  std::string wrong = read_precision(value, dtype);
  const bool narrow = dtype && storage_bits(*dtype) < storage_bits(Precision::bf16);
  if (narrow) wrong = in_quotes(value) + " is narrower than 16 bits; expected bf16, fp16 or fp32";
  if (wrong.empty()) plan.grad_dtype = *dtype;
  return {true, wrong};
}

SymbolResult apply_value(std::string_view name, std::string_view value, Scenario& scenario,
                         ParallelLayout& layout) {
  constexpr std::string_view kWeights = "weight_dtype.";
  if (name == "phase") {
    constexpr std::array kPhases{Phase::decode, Phase::prefill, Phase::generate, Phase::train};
    return {true, read_choice(value, kPhases, scenario.phase)};
  }
  if (name == "context") return {true, read_context(value, scenario)};
  if (name == "routing") {
    constexpr std::array kRoutings{Routing::least, Routing::uniform, Routing::all};
    return {true, read_choice(value, kRoutings, scenario.routing)};
  }
  if (name == "mla") {
    constexpr std::array kForms{LatentForm::least, LatentForm::absorbed, LatentForm::expanded};
    return {true, read_choice(value, kForms, scenario.mla)};
  }
  if (name == "logits") return {true, read_logits(value, scenario.logits)};
  if (name.starts_with(kWeights) && name.size() > kWeights.size()) {
    return {true, read_weight_dtype(name.substr(kWeights.size()), value, scenario)};
  }
  if (name == "weight_scale_dtype" || name == "weight_zero_dtype") {
    const bool scale = name == "weight_scale_dtype";
    return {true,
            read_scale_dtype(value, !scale,
                             scale ? scenario.weight_scale_dtype : scenario.weight_zero_dtype)};
  }
  if (auto* precision = precision_of(name, scenario))
    return {true, read_precision(value, *precision)};
  if (auto* degree = degree_of(name, layout))
    return {true, read_number(value, {1, kMostRanks}, *degree)};
  const SymbolResult training = apply_training(name, value, scenario.training);
  if (training.known) return training;
  const SymbolResult memory = apply_training_memory(name, value, scenario.training.memory);
  if (memory.known) return memory;
  Range range;
  if (auto* size = size_of(name, scenario, range)) return {true, read_number(value, range, *size)};
  return {false, {}};
}

bool is_of_memory(std::string_view symbol) {
  return symbol == "sequence_parallel" || symbol == "dropout" || symbol == "attention_scores" ||
         symbol == "schedule" || symbol == "interleave";
}

}  // namespace

std::span<const SymbolInfo> model_symbols() { return kSymbols; }

SymbolResult apply_symbol(std::string_view name, std::string_view value, Scenario& scenario,
                          ParallelLayout& layout) {
  SymbolResult result = apply_value(name, value, scenario, layout);
  std::vector<std::string>& given = scenario.given;
  const bool is_new = std::find(given.begin(), given.end(), name) == given.end();
  if (result.known && result.error.empty() && is_new) given.emplace_back(name);
  return result;
}

std::vector<std::string> without_effect(const Scenario& scenario) {
  const bool decode = scenario.phase == Phase::decode;
  const bool prefill = scenario.phase == Phase::prefill;
  std::vector<std::string> lines;
  const bool asked = scenario.weight_dtype || !scenario.weight_dtypes.empty();
  for (const std::string& symbol : scenario.given) {
    const bool of_scales = symbol == "weight_scale_dtype" || symbol == "weight_zero_dtype";
    if (of_scales && scenario.weight_group_size == 0) {
      lines.push_back(symbol + " has no effect without weight_group_size");
    } else if (symbol == "weight_group_size" && !asked) {
      lines.push_back(symbol +
                      " has no effect without weight_dtype: a checkpoint's own scales stay");
    }
    const bool idle = (symbol == "prompt" && decode) || (symbol == "tokens_per_step" && prefill) ||
                      (symbol == "output" && (decode || prefill));
    if (is_of_memory(symbol) && scenario.phase == Phase::train) {
      lines.push_back(symbol + " has no effect on floors: the memory ledger of training reads it");
    } else if (idle || is_of_memory(symbol)) {
      lines.push_back(symbol + " has no effect in phase " + std::string(name_of(scenario.phase)));
    }
  }
  return lines;
}

}  // namespace floorline
