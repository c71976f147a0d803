// SPDX-License-Identifier: Apache-2.0
#include "model/ledger/training_ledger.hpp"

#include <algorithm>
#include <cmath>

#include "model/ledger/training_activations.hpp"
#include "model/quantity/expect.hpp"
#include "model/workload/model_graph.hpp"

namespace floorline {

namespace {

constexpr std::size_t kForward = 0;
constexpr std::size_t kBackward = 1;
constexpr std::size_t kStep = 2;
/// DeepSpeed's default elements of its reduce and its gather bucket.
constexpr std::int64_t kBucket = 500'000'000;

class StageLedger {
 public:
  StageLedger(const Architecture& architecture, const Scenario& scenario,
              const ParallelLayout& layout, std::int64_t stage)
      : architecture_(architecture),
        scenario_(scenario),
        plan_(scenario.training),
        layout_(layout),
        stage_(stage),
        tokens_(plan_.micro_batch * plan_.sequence),
        layers_(stage_layers(architecture.layer_count(), layout, stage)),
        order_(architecture.layer_order()) {}

  MemoryLedger build() {
    ledger_.instants = training_instants();
    add_parameter_lines(trained_parameters(architecture_, scenario_, layout_, stage_), plan_,
                        layout_.dp, ledger_);
    if (plan_.zero == 3 && layout_.dp > 1) add_gathered();
    if (plan_.zero > 0 && layout_.dp > 1) add_buckets();
    add_activations();
    if (stage_ == layout_.pp - 1) add_logits();
    return std::move(ledger_);
  }

 private:
  LedgerEntry& add(const char* name, ByteCount bytes, Evidence evidence, Lifetime alive,
                   std::string formula, const char* source) {
    LedgerEntry entry;
    entry.name = name;
    entry.bytes = bytes;
    entry.evidence = evidence;
    entry.alive = alive;
    entry.formula = std::move(formula);
    entry.source = source;
    ledger_.lines.push_back(std::move(entry));
    return ledger_.lines.back();
  }
  [[nodiscard]] const LayerGroup& group_of(std::int64_t layer) const {
    const int group = order_[static_cast<std::size_t>(layer)];
    return architecture_.layers[static_cast<std::size_t>(group)];
  }
  [[nodiscard]] std::int64_t width_bits() const {
    return std::llround(storage_bits(activation_storage(architecture_, scenario_)));
  }
  static std::string bytes_text(ByteCount bytes) {
    return bytes.count() ? std::to_string(*bytes.count()) + " B" : "more than 9.2e18 B";
  }

  /// Parameters of one layer of each kind on this stage, and of what stands outside the layers.
  [[nodiscard]] TrainedParameters outside() const {
    TrainedParameters all = trained_parameters(architecture_, scenario_, layout_, stage_);
    for (std::size_t g = 0; g < architecture_.layers.size(); ++g) {
      const TrainedParameters one = one_layer(g);
      std::int64_t here = 0;
      for (std::int64_t i = 0; i < layers_.count; ++i)
        here += &group_of(layers_.first + i) == &architecture_.layers[g] ? 1 : 0;
      for (std::size_t p = 0; p < all.elements.size(); ++p)
        all.elements[p] -= one.elements[p] * here;
    }
    return all;
  }
  [[nodiscard]] TrainedParameters one_layer(std::size_t group) const {
    TrainedParameters one;
    for (const NamedWeight& weight : architecture_.weights) {
      if (weight.scale || weight.draft || weight.group != static_cast<int>(group)) continue;
      const WeightShape shape = rank_shape(weight, layout_);
      one.elements[static_cast<std::size_t>(weight_storage(weight, scenario_))] +=
          shape.rows * shape.cols *
          (rank_count(weight, layout_) / architecture_.layers[group].count);
    }
    return one;
  }
  [[nodiscard]] TrainedParameters largest_layer() const {
    TrainedParameters largest;
    for (std::int64_t i = 0; i < layers_.count; ++i) {
      const auto group =
          static_cast<std::size_t>(order_[static_cast<std::size_t>(layers_.first + i)]);
      if (i > 0 && order_[static_cast<std::size_t>(layers_.first + i)] ==
                       order_[static_cast<std::size_t>(layers_.first + i - 1)])
        continue;
      const TrainedParameters one = one_layer(group);
      if (one.stored() > largest.stored()) largest = one;
    }
    return largest;
  }

  /// The layer that is computed and the one gathered ahead of it; embedding, final norm and lm_head
  /// stay whole, as FSDP's outermost unit does.
  void add_gathered() {
    const ByteCount layer = largest_layer().stored();
    const ByteCount outer = outside().stored();
    const std::int64_t ahead = std::min<std::int64_t>(2, layers_.count);
    add("gathered_weights", layer * ahead + outer, Evidence::formula,
        Lifetime::at(kForward).with(kBackward),
        std::to_string(ahead) + " layers x " + bytes_text(layer) + " + outside the layers " +
            bytes_text(outer),
        "whole weights while they are used");
  }

  /// None beside the gradients themselves (Megatron, FSDP but for one layer), or DeepSpeed's two.
  void add_buckets() {
    const TrainedParameters all = trained_parameters(architecture_, scenario_, layout_, stage_);
    const std::int64_t bucket = std::min(kBucket, all.count());
    const auto gradient_bits = std::llround(storage_bits(plan_.grad_dtype));
    const ByteCount layer = plan_.zero == 3
                                ? ByteCount::from_bits(largest_layer().count(), gradient_bits)
                                : ByteCount(0);
    constexpr std::int64_t kGatheredBits = 16;
    const ByteCount buckets =
        ByteCount::from_bits(bucket, gradient_bits) + ByteCount::from_bits(bucket, kGatheredBits);
    ledger_.lines.push_back(interval_entry(
        "comm_buffers", {layer, std::max(layer, buckets)}, Lifetime::at(kBackward).with(kStep),
        "up to a gradient and a gather bucket of " + std::to_string(bucket) + " elements",
        "DeepSpeed reduce_bucket_size, allgather_bucket_size"));
  }

  /// A sum over the layers of the stage, of one micro-batch.
  [[nodiscard]] ByteCount kept_by_layers() const {
    ByteCount sum;
    for (std::size_t g = 0; g < architecture_.layers.size(); ++g) {
      std::int64_t here = 0;
      for (std::int64_t i = 0; i < layers_.count; ++i)
        here += &group_of(layers_.first + i) == &architecture_.layers[g] ? 1 : 0;
      if (here == 0) continue;
      sum =
          sum +
          layer_activations(architecture_, architecture_.layers[g], scenario_, layout_).kept * here;
    }
    return sum;
  }
  [[nodiscard]] ByteCount most_computed_again() const {
    ByteCount most;
    for (const LayerGroup& group : architecture_.layers) {
      const LayerActivations a = layer_activations(architecture_, group, scenario_, layout_);
      most = std::max(most, a.whole - std::min(a.whole, a.kept));
    }
    return most;
  }
  /// What the final norm and lm_head read, of one micro-batch.
  [[nodiscard]] ByteCount kept_at_end() const {
    if (stage_ != layout_.pp - 1) return ByteCount(0);
    std::int64_t bits = 2 * architecture_.hidden * width_bits();
    if (plan_.memory.sequence_parallel) bits = (bits + layout_.tp - 1) / layout_.tp;
    return ByteCount::from_bits(tokens_, bits);
  }

  void add_activations() {
    const InFlight flight = in_flight(plan_, layout_.pp, stage_);
    const ByteCount layers = kept_by_layers();
    ByteCount bytes = layers * flight.parts;
    if (const auto count = bytes.count())
      bytes = ByteCount((*count + flight.per_stage - 1) / flight.per_stage);
    const ByteCount end = kept_at_end();
    std::string formula = std::to_string(layers_.count) + " layers " + bytes_text(layers) +
                          " a micro-batch x " + std::to_string(flight.parts) + " in flight";
    if (flight.per_stage > 1)
      formula += ", each 1/" + std::to_string(flight.per_stage) + " of the stage";
    if (end > ByteCount(0)) formula += " + final norm and lm_head " + bytes_text(end);
    const char* const source = "arXiv 2205.05198, by tensors";
    add("activations", bytes + end, Evidence::formula, Lifetime::at(kForward).with(kBackward),
        std::move(formula), source);
    const ByteCount again = most_computed_again();
    if (plan_.recompute == Recompute::none || again == ByteCount(0)) return;
    add("recomputed", again, Evidence::formula, Lifetime::at(kBackward),
        "one layer computed again, less what it kept", source);
  }

  void add_logits() {
    const std::string head =
        architecture_.tied_embeddings ? "embed_tokens.weight" : "lm_head.weight";
    const NamedWeight* weight = architecture_.find_weight(head, -1);
    const std::int64_t vocab =
        weight == nullptr ? architecture_.vocab : rank_shape(*weight, layout_).rows;
    const InFlight flight = in_flight(plan_, layout_.pp, stage_);
    const std::int64_t passes = plan_.memory.schedule == PipelineSchedule::gpipe ? flight.parts : 1;
    constexpr std::int64_t kFp32Bits = 32;
    const ByteCount one = ByteCount::from_bits(vocab, width_bits() + kFp32Bits) * tokens_;
    const std::string formula = std::to_string(tokens_) + " tokens x " + std::to_string(vocab) +
                                " x (" + std::to_string(width_bits() / 8) + " + fp32 4 B)";
    add("logits", one * passes, Evidence::formula, Lifetime::at(kForward).with(kBackward),
        passes == 1 ? formula : formula + " x " + std::to_string(passes) + " in flight",
        "stored and as the loss reads them");
    add("logits_gradients", one, Evidence::formula, Lifetime::at(kBackward), formula,
        "of one micro-batch");
  }

  const Architecture& architecture_;
  const Scenario& scenario_;
  const TrainingPlan& plan_;
  const ParallelLayout& layout_;
  std::int64_t stage_;
  std::int64_t tokens_;
  StageLayers layers_;
  std::vector<int> order_;
  MemoryLedger ledger_;
};

bool is_given(const Scenario& scenario, std::string_view name) {
  return std::find(scenario.given.begin(), scenario.given.end(), name) != scenario.given.end();
}

std::vector<std::string> memory_defaults(const Scenario& scenario, const ParallelLayout& layout) {
  const TrainingMemory& m = scenario.training.memory;
  std::vector<std::string> lines = defaults_used(scenario, layout);
  const auto line = [&](const char* name, const std::string& value) {
    if (!is_given(scenario, name))
      lines.push_back(std::string(name) + " = " + value + " (default)");
  };
  if (layout.tp > 1) line("sequence_parallel", m.sequence_parallel ? "1" : "0");
  line("dropout", m.dropout ? "1" : "0");
  line("attention_scores", std::string(name_of(m.attention_scores)));
  if (layout.pp > 1) line("schedule", std::string(name_of(m.schedule)));
  return lines;
}

std::vector<std::string> training_notes(const Scenario& scenario, const ParallelLayout& layout) {
  std::vector<std::string> notes{
      "not counted: CUDA context and communicators, what an allocator reserves beyond the need "
      "(typically 1 to 11 %), temporaries of the optimizer"};
  if (scenario.training.zero == 0 && layout.dp > 1)
    notes.emplace_back(
        "DDP without gradient_as_bucket_view keeps gradients a second time: not counted");
  return notes;
}

}  // namespace

void check_training_memory(const Architecture& architecture, const Scenario& scenario,
                           const ParallelLayout& layout, Diagnostics& diagnostics) {
  const TrainingMemory& memory = scenario.training.memory;
  const auto wrong = [&](const char* key, const std::string& message) {
    diagnostics.add({}, key, message + " (" + architecture.name + ")");
  };
  const bool interleaved = memory.schedule == PipelineSchedule::interleaved;
  if (!interleaved && memory.interleave > 1)
    wrong("interleave", "expected schedule = interleaved, which alone has parts of a stage");
  if (!interleaved) return;
  if (layout.pp == 1)
    return wrong("schedule", "interleaved needs pipeline stages; expected pp above 1");
  if (memory.interleave < 2)
    wrong("interleave", "missing; schedule = interleaved needs 2 or more parts of a stage");
  const std::int64_t layers = architecture.layer_count();
  if (layers % (layout.pp * memory.interleave) != 0) {
    wrong("interleave", std::to_string(layers) + " layers do not divide into " +
                            std::to_string(layout.pp) + " stages of " +
                            std::to_string(memory.interleave) + " equal parts");
  }
}

MemoryLedger training_ledger_of_stage(const Architecture& architecture, const Scenario& scenario,
                                      const ParallelLayout& layout, std::int64_t stage) {
  FLOORLINE_EXPECT(stage >= 0 && stage < layout.pp);
  return StageLedger(architecture, scenario, layout, stage).build();
}

TrainingLedger training_ledger(const Architecture& architecture, const Scenario& scenario,
                               const ParallelLayout& layout) {
  FLOORLINE_EXPECT(scenario.phase == Phase::train);
  TrainingLedger worst;
  ByteCount most;
  // Of equal stages the first holds most micro-batches.
  for (const DistinctStage& distinct : distinct_stages(architecture, layout)) {
    MemoryLedger ledger = training_ledger_of_stage(architecture, scenario, layout, distinct.stage);
    const ByteCount peak = peak_of(ledger).bytes;
    if (!worst.ledger.lines.empty() && peak <= most) continue;
    most = peak;
    worst.ledger = std::move(ledger);
    worst.stage = distinct.stage;
  }
  worst.assumptions = memory_defaults(scenario, layout);
  worst.notes = training_notes(scenario, layout);
  if (layout.pp > 1) {
    worst.notes.push_back("stage " + std::to_string(worst.stage + 1) + " of " +
                          std::to_string(layout.pp) + " needs most");
  }
  return worst;
}

}  // namespace floorline
