// SPDX-License-Identifier: Apache-2.0
// What a model is asked to do: phase, batch, lengths, precisions. One table of symbols serves
// --set NAME=VALUE, --help and the list of defaults used.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/quantity/precision.hpp"
#include "model/workload/architecture.hpp"
#include "model/workload/layout.hpp"
#include "model/workload/routing.hpp"

namespace floorline {

enum class Phase : std::uint8_t { decode, prefill, generate, train };
std::string_view name_of(Phase phase);
enum class Logits : std::uint8_t { last, all, none };
std::string_view name_of(Logits logits);

/// Forms of latent attention; `least`: the one with less work.
enum class LatentForm : std::uint8_t { least, absorbed, expanded };
std::string_view name_of(LatentForm form);

/// What training computes again instead of keeping it from the forward pass: nothing, attention, or
/// whole layers.
enum class Recompute : std::uint8_t { none, selective, full };
std::string_view name_of(Recompute recompute);
/// `adamw_bf16`: moments stored as the weights are, no fp32 master of them.
enum class OptimizerKind : std::uint8_t { adamw, adamw8bit, adamw_bf16, sgd };
std::string_view name_of(OptimizerKind optimizer);
/// The order in which pipeline stages run micro-batches: all forward passes first; one forward, one
/// backward; the same with `interleave` parts of a stage by turns.
enum class PipelineSchedule : std::uint8_t { one_forward_one_backward, interleaved, gpipe };
std::string_view name_of(PipelineSchedule schedule);
/// Whether attention keeps its scores for the backward pass (eager) or computes them again (flash).
enum class AttentionScores : std::uint8_t { flash, eager };
std::string_view name_of(AttentionScores scores);

/// What only the memory of a training step depends on.
struct TrainingMemory {
  bool sequence_parallel = false;  ///< rows outside attention and MLP divided over tp too
  bool dropout = false;            ///< masks are kept
  AttentionScores attention_scores = AttentionScores::flash;
  PipelineSchedule schedule = PipelineSchedule::one_forward_one_backward;
  std::int64_t interleave = 1;  ///< parts of a stage, schedule = interleaved
};

/// One step of the optimizer on one replica, phase = train.
struct TrainingPlan {
  std::int64_t sequence = 2048;   ///< tokens of a sequence
  std::int64_t micro_batch = 1;   ///< sequences of one forward and backward pass
  std::int64_t accumulation = 1;  ///< passes of a step
  Recompute recompute = Recompute::none;
  /// What dp ranks divide: 1 optimizer state, 2 gradients too, 3 weights too (FSDP).
  std::int64_t zero = 0;
  OptimizerKind optimizer = OptimizerKind::adamw;
  Precision grad_dtype = Precision::bf16;  ///< storage of gradients of weights
  TrainingMemory memory;
};

/// `count` sequences with `context` tokens cached.
struct ContextGroup {
  std::int64_t context = 0;
  std::int64_t count = 1;
};

struct WeightDtype {
  std::string glob;  ///< of weight names
  Precision dtype = Precision::bf16;
};

struct Scenario {
  Phase phase = Phase::decode;
  std::int64_t batch = 1;               ///< sequences of one replica
  std::int64_t prompt = 1024;           ///< new tokens of a sequence: prefill, generate
  std::int64_t tokens_per_step = 1;     ///< new tokens of a sequence: decode
  std::int64_t output = 256;            ///< decode steps of generate
  std::optional<std::int64_t> context;  ///< tokens cached before the step
  std::vector<ContextGroup> contexts;   ///< instead of context: a list or histogram
  std::optional<Logits> logits;
  Routing routing = Routing::least;
  LatentForm mla = LatentForm::least;
  TrainingPlan training;
  std::optional<Precision> weight_dtype;   ///< of the layers' matrices
  std::vector<WeightDtype> weight_dtypes;  ///< weight_dtype.GLOB, the last that matches counts
  /// Elements of a row that share a scale in matrices that the scenario stores narrower than their
  /// checkpoint does; 0: scales are not counted.
  std::int64_t weight_group_size = 0;
  Precision weight_scale_dtype = Precision::bf16;  ///< one a group
  Precision weight_zero_dtype = Precision::none;   ///< zero points, one a group; none: symmetric
  std::optional<Precision> activation_dtype, kv_dtype, compute_dtype, accumulate_dtype;
  std::vector<std::string> given;  ///< symbols that were set

  /// New tokens of a sequence in one step.
  [[nodiscard]] std::int64_t new_tokens() const;
  /// Tokens cached before the step: 1024 for decode, 0 for all else unless given.
  [[nodiscard]] std::int64_t cached() const;
  /// Sequences: batch, those that `contexts` counts, or those of a training step.
  [[nodiscard]] std::int64_t sequences() const;
  /// Every new token in decode (each is sampled or checked) and training, the last one in prefill.
  [[nodiscard]] Logits logits_rows() const;
};

struct SymbolInfo {
  const char* name;
  const char* fallback;  ///< default, as text
  const char* meaning;
};
/// All symbols of a model, in the order of --help.
std::span<const SymbolInfo> model_symbols();

struct SymbolResult {
  bool known = true;  ///< false: no such symbol
  std::string error;  ///< what is wrong with the value; empty: applied
};
/// `weight_dtype.GLOB` is a name too.
SymbolResult apply_symbol(std::string_view name, std::string_view value, Scenario& scenario,
                          ParallelLayout& layout);

/// NAME*=FACTOR of a number; the product has to be one that the symbol can take.
SymbolResult scale_symbol(std::string_view name, std::string_view factor, Scenario& scenario,
                          ParallelLayout& layout);
/// The present number of a symbol that is one; absent for words, precisions and lists.
std::optional<std::int64_t> symbol_number(std::string_view name, const Scenario& scenario,
                                          const ParallelLayout& layout);
/// Its present value as it would be written, or the words of its default.
std::string symbol_text(std::string_view name, const Scenario& scenario,
                        const ParallelLayout& layout);

/// "batch = 1 (default)": defaults that matter in this phase and that nobody set.
std::vector<std::string> defaults_used(const Scenario& scenario, const ParallelLayout& layout);

/// "prompt has no effect in phase decode": symbols that were set and that this phase does not read.
std::vector<std::string> without_effect(const Scenario& scenario);

/// generate is a prefill, then `steps` decode steps; the first has decode.cached() tokens in the
/// cache, each further one tokens_per_step more.
struct GenerateParts {
  Scenario prefill;
  Scenario decode;
  std::int64_t steps = 0;
};
GenerateParts generate_parts(const Scenario& scenario);

// ---- precisions: storage, compute and accumulate are separate (design §4)

Precision activation_storage(const Architecture& architecture, const Scenario& scenario);
Precision kv_storage(const Architecture& architecture, const Scenario& scenario);
Precision weight_storage(const NamedWeight& weight, const Scenario& scenario);
/// False: the scenario gives it another storage than its checkpoint; then the scales of that
/// storage, and the compute precision that it implies, hold no longer.
bool keeps_storage(const NamedWeight& weight, const Scenario& scenario);
/// Scales and zero points of a weight in the storage that the scenario gives it: n x ceil(k /
/// group) of a matrix of n rows and k columns, divided over ranks as it is. None for formats whose
/// bits include them (mxfp4, nvfp4), for 16 bits and wider, and without weight_group_size.
std::vector<NamedWeight> scales_asked_for(const NamedWeight& weight, const Scenario& scenario);
struct MatrixPrecision {
  Precision compute = Precision::bf16;
  Precision accumulate = Precision::fp32;
};
/// Of a product of two stored operands: the wider one (the first if equally wide), accumulated in
/// fp32, unless the scenario says otherwise; int8 and int4 accumulate in int32, fp64 in fp64.
MatrixPrecision matrix_precision(Precision a, Precision b, const Scenario& scenario);
/// `*` is any text, `?` one character; ".weight" at the end of a name may be left out.
bool glob_matches(std::string_view glob, std::string_view weight_name);

}  // namespace floorline
