// SPDX-License-Identifier: Apache-2.0
#include "model/ledger/training_activations.hpp"

#include <algorithm>
#include <cmath>

namespace floorline {

namespace {

constexpr std::int64_t kBitsOfByte = 8;

/// Bits of one token in one layer; heads of this rank.
class TokenBits {
 public:
  TokenBits(const Architecture& architecture, const LayerGroup& group, const Scenario& scenario,
            const ParallelLayout& layout)
      : hidden_(architecture.hidden),
        group_(group),
        plan_(scenario.training),
        width_(std::llround(storage_bits(activation_storage(architecture, scenario)))),
        tp_(layout.tp),
        q_heads_(per_rank(group.attention.q_heads)),
        kv_heads_(per_rank(group.attention.kv_heads)) {}

  /// Rows of the hidden size, which tensor parallelism alone does not divide.
  [[nodiscard]] std::int64_t rows() const {
    const std::int64_t tensors = group_.sandwich_norms ? 6 : 4;
    std::int64_t bits = tensors * hidden_ * width_;
    if (plan_.memory.dropout) bits += 2 * hidden_ * kBitsOfByte;
    return plan_.memory.sequence_parallel ? per_rank(bits) : bits;
  }
  [[nodiscard]] std::int64_t input() const {
    const std::int64_t bits = hidden_ * width_;
    return plan_.memory.sequence_parallel ? per_rank(bits) : bits;
  }

  [[nodiscard]] std::int64_t attention() const {
    const AttentionShape& a = group_.attention;
    if (group_.mixer != Mixer::attention) return 0;
    const std::int64_t queries = q_heads_ * a.head_dim;
    const std::int64_t keys = kv_heads_ * a.head_dim;
    std::int64_t elements = queries + keys + kv_heads_ * a.v_dim + q_heads_ * a.v_dim;
    if (a.qk_norm != QkNorm::none) elements += queries + keys;
    if (a.output_gate) elements += q_heads_ * a.v_dim;
    return elements * width_;
  }

  /// What selective recomputation does away with.
  [[nodiscard]] std::int64_t scores() const {
    constexpr std::int64_t kNormalizerBits = 32;
    if (group_.mixer != Mixer::attention) return 0;
    if (plan_.memory.attention_scores == AttentionScores::flash) return q_heads_ * kNormalizerBits;
    const std::int64_t kept = plan_.memory.dropout ? 2 * width_ + kBitsOfByte : width_;
    return q_heads_ * plan_.sequence * kept;
  }

  [[nodiscard]] std::int64_t feed_forward() const {
    if (group_.feed_forward != FeedForward::dense) return 0;
    const std::int64_t tensors = group_.mlp.gated ? 3 : 2;
    return tensors * per_rank(group_.mlp.intermediate) * width_;
  }

 private:
  [[nodiscard]] std::int64_t per_rank(std::int64_t count) const { return (count + tp_ - 1) / tp_; }

  std::int64_t hidden_;
  const LayerGroup& group_;
  const TrainingPlan& plan_;
  std::int64_t width_;
  std::int64_t tp_;
  std::int64_t q_heads_;
  std::int64_t kv_heads_;
};

}  // namespace

LayerActivations layer_activations(const Architecture& architecture, const LayerGroup& group,
                                   const Scenario& scenario, const ParallelLayout& layout) {
  const TokenBits bits(architecture, group, scenario, layout);
  const TrainingPlan& plan = scenario.training;
  const std::int64_t tokens = plan.micro_batch * plan.sequence;
  const std::int64_t lean = bits.rows() + bits.attention() + bits.feed_forward();
  const auto all_tokens = [&](std::int64_t each) { return ByteCount::from_bits(tokens, each); };
  LayerActivations layer;
  layer.whole = all_tokens(lean + bits.scores());
  switch (plan.recompute) {
    case Recompute::none:
      layer.kept = layer.whole;
      break;
    case Recompute::selective:
      layer.kept = all_tokens(lean);
      break;
    case Recompute::full:
      layer.kept = all_tokens(bits.input());
      break;
  }
  return layer;
}

InFlight in_flight(const TrainingPlan& plan, std::int64_t stages, std::int64_t stage) {
  const std::int64_t passes = plan.accumulation;
  if (stages == 1) return {1, 1};
  const std::int64_t behind = stages - stage - 1;
  switch (plan.memory.schedule) {
    case PipelineSchedule::gpipe:
      return {passes, 1};
    case PipelineSchedule::one_forward_one_backward:
      return {std::min(passes, behind + 1), 1};
    case PipelineSchedule::interleaved: {
      // Warm-up of Narayanan et al. 2021 (arXiv 2104.04473), and the part that follows it.
      const std::int64_t parts = plan.memory.interleave;
      return {std::min(passes * parts, 2 * behind + (parts - 1) * stages + 1), parts};
    }
  }
  return {1, 1};
}

}  // namespace floorline
