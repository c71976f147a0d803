// SPDX-License-Identifier: Apache-2.0
// The present values of a model's symbols, and NAME*=FACTOR on them.
#include <algorithm>
#include <array>
#include <cmath>

#include "model/quantity/unit_names.hpp"
#include "model/workload/scenario.hpp"

namespace floorline {

namespace {

constexpr double kMostWhole = 9007199254740992.0;  // 2^53

template <class Member>
struct NamedNumber {
  const char* name;
  Member member;
};
constexpr std::array<NamedNumber<std::int64_t Scenario::*>, 5> kSizes{
    {{"batch", &Scenario::batch},
     {"prompt", &Scenario::prompt},
     {"tokens_per_step", &Scenario::tokens_per_step},
     {"output", &Scenario::output},
     {"weight_group_size", &Scenario::weight_group_size}}};
constexpr std::array<NamedNumber<std::int64_t TrainingPlan::*>, 4> kTraining{
    {{"sequence", &TrainingPlan::sequence},
     {"micro_batch", &TrainingPlan::micro_batch},
     {"gradient_accumulation", &TrainingPlan::accumulation},
     {"zero", &TrainingPlan::zero}}};
constexpr std::array<NamedNumber<std::int64_t ParallelLayout::*>, 5> kDegrees{
    {{"tp", &ParallelLayout::tp},
     {"pp", &ParallelLayout::pp},
     {"ep", &ParallelLayout::ep},
     {"dp", &ParallelLayout::dp},
     {"cp", &ParallelLayout::cp}}};

/// What a word or precision says now; empty when nothing was set.
std::string word_of(std::string_view name, const Scenario& s) {
  const auto precision = [](const std::optional<Precision>& p) {
    return p ? std::string(name_of(*p)) : std::string();
  };
  if (name == "phase") return std::string(name_of(s.phase));
  if (name == "logits") return std::string(name_of(s.logits_rows()));
  if (name == "routing") return std::string(name_of(s.routing));
  if (name == "mla") return std::string(name_of(s.mla));
  if (name == "recompute") return std::string(name_of(s.training.recompute));
  if (name == "optimizer") return std::string(name_of(s.training.optimizer));
  if (name == "grad_dtype") return std::string(name_of(s.training.grad_dtype));
  if (name == "weight_dtype") return precision(s.weight_dtype);
  if (name == "weight_scale_dtype") return std::string(name_of(s.weight_scale_dtype));
  if (name == "weight_zero_dtype") return std::string(name_of(s.weight_zero_dtype));
  if (name == "activation_dtype") return precision(s.activation_dtype);
  if (name == "kv_dtype") return precision(s.kv_dtype);
  if (name == "compute_dtype") return precision(s.compute_dtype);
  if (name == "accumulate_dtype") return precision(s.accumulate_dtype);
  for (const WeightDtype& rule : s.weight_dtypes) {
    if (name == "weight_dtype." + rule.glob) return std::string(name_of(rule.dtype));
  }
  return {};
}

}  // namespace

std::optional<std::int64_t> symbol_number(std::string_view name, const Scenario& scenario,
                                          const ParallelLayout& layout) {
  if (name == "context" && scenario.contexts.empty()) return scenario.cached();
  for (const auto& n : kSizes) {
    if (n.name == name) return scenario.*n.member;
  }
  for (const auto& n : kTraining) {
    if (n.name == name) return scenario.training.*n.member;
  }
  for (const auto& n : kDegrees) {
    if (n.name == name) return layout.*n.member;
  }
  return std::nullopt;
}

std::string symbol_text(std::string_view name, const Scenario& scenario,
                        const ParallelLayout& layout) {
  if (const auto number = symbol_number(name, scenario, layout)) return std::to_string(*number);
  const std::string word = word_of(name, scenario);
  if (!word.empty()) return word;
  if (name == "context") return std::to_string(scenario.sequences()) + " sequences of their own";
  for (const SymbolInfo& symbol : model_symbols()) {
    if (symbol.name == name) return symbol.fallback;
  }
  return "as the checkpoint";
}

SymbolResult scale_symbol(std::string_view name, std::string_view factor, Scenario& scenario,
                          ParallelLayout& layout) {
  const auto now = symbol_number(name, scenario, layout);
  const std::optional<double> f = parse_number(factor);
  if (!now) {
    const SymbolResult known = apply_symbol(name, "", scenario, layout);
    if (!known.known) return known;
    return {true, "is no number that a factor could scale; expected NAME=VALUE"};
  }
  if (!f || !(*f > 0)) return {true, quoted(factor) + " is not a factor above zero"};
  const double product = static_cast<double>(*now) * *f;
  if (!(product < kMostWhole) || product != std::floor(product))
    return {true, std::to_string(*now) + " times " + std::string(factor) +
                      " is not a whole number that it could be"};
  return apply_symbol(name, std::to_string(static_cast<std::int64_t>(product)), scenario, layout);
}

}  // namespace floorline
