// SPDX-License-Identifier: Apache-2.0
// Weights, gradients and optimizer of a training step.
#include <cmath>

#include "model/ledger/training_ledger.hpp"
#include "model/quantity/unit_names.hpp"
#include "model/workload/model_graph.hpp"

namespace floorline {

namespace {

constexpr std::int64_t kFp32Bytes = 4;
constexpr std::int64_t kBlock = 256;  // elements of an 8-bit moment that share a scale

constexpr std::size_t kForward = 0;
constexpr std::size_t kBackward = 1;
constexpr std::size_t kStep = 2;

bool is_wide(std::size_t precision) {
  return storage_bits(static_cast<Precision>(precision)) >= storage_bits(Precision::fp32);
}

/// Storage bits are whole quarters.
ByteCount bytes_of(std::int64_t elements, Precision dtype) {
  constexpr std::int64_t kParts = 4;
  return ByteCount::from_bits(
      elements, std::llround(storage_bits(dtype) * static_cast<double>(kParts)), kParts);
}

std::string divided(std::int64_t whole, std::int64_t ranks) {
  return ranks == 1 ? std::to_string(whole)
                    : std::to_string(whole) + " / " + std::to_string(ranks) + " ranks";
}

struct OptimizerState {
  ByteCount bytes;
  std::string formula;
};

/// What the optimizer keeps of one rank's share.
OptimizerState optimizer_state(const TrainedParameters& all, const TrainingPlan& plan,
                               std::int64_t ranks) {
  const std::int64_t n = (all.count() + ranks - 1) / ranks;
  const std::int64_t narrow = (all.narrow() + ranks - 1) / ranks;
  const std::string whole = divided(all.count(), ranks);
  switch (plan.optimizer) {
    case OptimizerKind::adamw:
      return {ByteCount(narrow) * kFp32Bytes + ByteCount(n) * (2 * kFp32Bytes),
              whole + " x (master " +
                  (narrow == n   ? "4"
                   : narrow == 0 ? "0"
                                 : "4 or 0") +
                  " + moments 4 + 4 B)"};
    case OptimizerKind::adamw8bit: {
      const std::int64_t blocks = (n + kBlock - 1) / kBlock;
      return {ByteCount(n) * 2 + ByteCount(blocks) * (2 * kFp32Bytes),
              whole + " x (moments 1 + 1 B, and 4 B each a block of 256)"};
    }
    case OptimizerKind::adamw_bf16:
      return {all.share(ranks).stored() * 2, whole + " x (moments as the weights, twice)"};
    case OptimizerKind::sgd:
      return {ByteCount(narrow) * kFp32Bytes + ByteCount(n) * kFp32Bytes,
              whole + " x (master " +
                  (narrow == n   ? "4"
                   : narrow == 0 ? "0"
                                 : "4 or 0") +
                  " + momentum 4 B)"};
  }
  return {};
}

/// "8,030,261,248 x 2 B (bf16)", one part a storage.
std::string stored_text(const TrainedParameters& all, std::int64_t ranks) {
  std::string text;
  for (std::size_t p = 0; p < all.elements.size(); ++p) {
    if (all.elements[p] == 0) continue;
    const auto dtype = static_cast<Precision>(p);
    text += (text.empty() ? "" : " + ") + divided(all.elements[p], ranks) + " x " +
            exact_text(storage_bits(dtype) / 8.0) + " B (" + std::string(name_of(dtype)) + ")";
  }
  return text;
}

LedgerEntry line(const char* name, ByteCount bytes, Lifetime alive, std::string formula,
                 const char* source) {
  LedgerEntry entry;
  entry.name = name;
  entry.bytes = bytes;
  entry.alive = alive;
  entry.formula = std::move(formula);
  entry.source = source;
  return entry;
}

bool is_on_stage(const Architecture& architecture, const NamedWeight& weight, std::int64_t stage,
                 std::int64_t stages) {
  const bool table = weight.name == "embed_tokens.weight";
  const bool last = stage == stages - 1;
  return table ? stage == 0 || (last && architecture.tied_embeddings) : last;
}

}  // namespace

std::int64_t TrainedParameters::count() const {
  std::int64_t sum = 0;
  for (const std::int64_t n : elements) sum += n;
  return sum;
}

std::int64_t TrainedParameters::narrow() const {
  std::int64_t sum = 0;
  for (std::size_t p = 0; p < elements.size(); ++p) sum += is_wide(p) ? 0 : elements[p];
  return sum;
}

TrainedParameters TrainedParameters::share(std::int64_t ranks) const {
  TrainedParameters part = *this;
  for (std::int64_t& n : part.elements) n = (n + ranks - 1) / ranks;
  return part;
}

ByteCount TrainedParameters::stored() const {
  ByteCount sum;
  for (std::size_t p = 0; p < elements.size(); ++p)
    sum = sum + bytes_of(elements[p], static_cast<Precision>(p));
  return sum;
}

TrainedParameters trained_parameters(const Architecture& architecture, const Scenario& scenario,
                                     const ParallelLayout& layout, std::int64_t stage) {
  const StageLayers layers = stage_layers(architecture.layer_count(), layout, stage);
  const std::vector<int> order = architecture.layer_order();
  std::vector<std::int64_t> of_group(architecture.layers.size(), 0);
  for (std::int64_t i = layers.first; i < layers.first + layers.count; ++i)
    ++of_group[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])];
  TrainedParameters all;
  for (const NamedWeight& weight : architecture.weights) {
    if (weight.scale || weight.draft) continue;
    std::int64_t instances = 0;
    if (weight.group >= 0) {
      const auto group = static_cast<std::size_t>(weight.group);
      instances = rank_count(weight, layout) / architecture.layers[group].count * of_group[group];
    } else if (is_on_stage(architecture, weight, stage, layout.pp)) {
      instances = weight.count;
    }
    const WeightShape shape = rank_shape(weight, layout);
    all.elements[static_cast<std::size_t>(weight_storage(weight, scenario))] +=
        shape.rows * shape.cols * instances;
  }
  return all;
}

std::vector<std::string> training_instants() { return {"forward", "backward", "step"}; }

void add_parameter_lines(const TrainedParameters& parameters, const TrainingPlan& plan,
                         std::int64_t dp, MemoryLedger& ledger) {
  const std::int64_t optimizer_ranks = plan.zero >= 1 ? dp : 1;
  const std::int64_t gradient_ranks = plan.zero >= 2 ? dp : 1;
  const std::int64_t weight_ranks = plan.zero >= 3 ? dp : 1;
  const Lifetime always = Lifetime::all(ledger.instants.size());
  const char* const source = "arXiv 1910.02054";
  ledger.lines.push_back(line("weights", parameters.share(weight_ranks).stored(), always,
                              stored_text(parameters, weight_ranks), source));
  const std::int64_t gradients = (parameters.count() + gradient_ranks - 1) / gradient_ranks;
  // Those of earlier passes wait for the next one.
  Lifetime alive = Lifetime::at(kBackward).with(kStep);
  if (plan.accumulation > 1) alive = alive.with(kForward);
  ledger.lines.push_back(line("gradients", bytes_of(gradients, plan.grad_dtype), alive,
                              divided(parameters.count(), gradient_ranks) + " x " +
                                  exact_text(storage_bits(plan.grad_dtype) / 8.0) + " B (" +
                                  std::string(name_of(plan.grad_dtype)) + ")",
                              source));
  OptimizerState state = optimizer_state(parameters, plan, optimizer_ranks);
  ledger.lines.push_back(line("optimizer", state.bytes, always, std::move(state.formula), source));
}

}  // namespace floorline
