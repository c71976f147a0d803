// SPDX-License-Identifier: Apache-2.0
// Weights, gradients and optimizer of a training step.
#include <algorithm>
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

LedgerEntry line(const char* name, Lifetime alive) {
  LedgerEntry entry;
  entry.name = name;
  entry.alive = alive;
  entry.source = "arXiv 1910.02054";
  return entry;
}
void extend(LedgerEntry& entry, ByteCount bytes, const std::string& formula) {
  entry.bytes = entry.bytes + bytes;
  entry.formula += (entry.formula.empty() ? "" : " + ") + formula;
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

void TrainedParameters::add(const TrainedParameters& other, std::int64_t times) {
  for (std::size_t p = 0; p < elements.size(); ++p) elements[p] += other.elements[p] * times;
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

RankParameters trained_parameters(const Architecture& architecture, const Scenario& scenario,
                                  const ParallelLayout& layout, std::int64_t stage) {
  const StageLayers layers = stage_layers(architecture.layer_count(), layout, stage);
  const std::vector<int> order = architecture.layer_order();
  std::vector<std::int64_t> of_group(architecture.layers.size(), 0);
  for (std::int64_t i = layers.first; i < layers.first + layers.count; ++i)
    ++of_group[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])];
  RankParameters all;
  all.dense_ranks = layout.dp;
  all.expert_ranks = std::max<std::int64_t>(1, layout.dp / layout.expert_replicas());
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
    TrainedParameters& part = weight.experts > 0 ? all.experts : all.dense;
    part.elements[static_cast<std::size_t>(weight_storage(weight, scenario))] +=
        shape.rows * shape.cols * instances;
  }
  return all;
}

std::vector<std::string> training_instants() { return {"forward", "backward", "step"}; }

void add_parameter_lines(const RankParameters& parameters, const TrainingPlan& plan,
                         MemoryLedger& ledger) {
  LedgerEntry weights = line("weights", Lifetime::all(ledger.instants.size()));
  // Gradients of earlier passes wait for the next one.
  Lifetime alive = Lifetime::at(kBackward).with(kStep);
  if (plan.accumulation > 1) alive = alive.with(kForward);
  LedgerEntry gradients = line("gradients", alive);
  LedgerEntry optimizer = line("optimizer", Lifetime::all(ledger.instants.size()));
  const auto add = [&](const TrainedParameters& part, std::int64_t dp) {
    if (part.count() == 0) return;
    const std::int64_t weight_ranks = plan.zero >= 3 ? dp : 1;
    const std::int64_t gradient_ranks = plan.zero >= 2 ? dp : 1;
    extend(weights, part.share(weight_ranks).stored(), stored_text(part, weight_ranks));
    extend(gradients,
           bytes_of((part.count() + gradient_ranks - 1) / gradient_ranks, plan.grad_dtype),
           divided(part.count(), gradient_ranks) + " x " +
               exact_text(storage_bits(plan.grad_dtype) / 8.0) + " B (" +
               std::string(name_of(plan.grad_dtype)) + ")");
    const OptimizerState state = optimizer_state(part, plan, plan.zero >= 1 ? dp : 1);
    extend(optimizer, state.bytes, state.formula);
  };
  add(parameters.dense, parameters.dense_ranks);
  add(parameters.experts, parameters.expert_ranks);
  for (LedgerEntry* entry : {&weights, &gradients, &optimizer})
    ledger.lines.push_back(std::move(*entry));
}

}  // namespace floorline
