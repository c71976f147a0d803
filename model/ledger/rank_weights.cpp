// SPDX-License-Identifier: Apache-2.0
#include "model/ledger/rank_weights.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <string_view>

#include "model/workload/model_graph.hpp"

namespace floorline {

namespace {

constexpr std::int64_t kEighths = 8;
constexpr std::int64_t kSmallest = 512;
constexpr std::int64_t kMiB = std::int64_t{1} << 20U;
constexpr std::int64_t kSegment = 2 * kMiB;
constexpr std::int64_t kOwnSegment = 10 * kMiB;

std::int64_t rounded_up(std::int64_t size, std::int64_t multiple) {
  return (size + multiple - 1) / multiple * multiple;
}

ByteCount stored(std::int64_t elements, Precision storage) {
  const double eighths = storage_bits(storage) * static_cast<double>(kEighths);
  return ByteCount::from_bits(elements, std::lround(eighths), kEighths);
}

/// What one tensor adds to its own bytes.
ByteInterval rounding_of(std::int64_t size) {
  const std::int64_t whole = rounded_up(size, kSmallest);
  if (size < kOwnSegment) {
    const std::int64_t rest = size > kMiB ? kMiB : 0;
    return {ByteCount(whole - size), ByteCount(whole + rest - size)};
  }
  const std::int64_t segment = rounded_up(size, kSegment);
  const ByteCount added((segment - whole <= kMiB ? segment : whole) - size);
  return {added, added};
}

/// "self_attn.q_proj.weight" → its part "q_proj", and what stands before and behind.
struct NameParts {
  std::string_view before, part, behind;
};
NameParts parts_of(std::string_view name) {
  const std::size_t last = name.rfind('.');
  if (last == std::string_view::npos) return {"", name, ""};
  const std::size_t dot = name.substr(0, last).rfind('.');
  const std::size_t from = dot == std::string_view::npos ? 0 : dot + 1;
  return {name.substr(0, from), name.substr(from, last - from), name.substr(last)};
}

class WeightSum {
 public:
  WeightSum(const Architecture& a, const Scenario& scenario, const ParallelLayout& layout,
            const StageContent& stage, const EngineProfile& engine, const LedgerSettings& settings)
      : a_(a),
        scenario_(scenario),
        layout_(layout),
        stage_(stage),
        engine_(engine),
        settings_(settings) {}

  RankWeights sum() {
    const NamedWeight* owner = nullptr;
    for (const NamedWeight& weight : a_.weights) {
      if (!weight.scale) {
        owner = &weight;
        for (NamedWeight& scale : scales_asked_for(weight, scenario_))
          asked_.push_back(std::move(scale));
      }
      const bool stale = weight.scale && owner != nullptr && !keeps_storage(*owner, scenario_);
      if (!stale) add(weight);
    }
    for (const NamedWeight& scale : asked_) add(scale);
    flush();
    add_rotary();
    return std::move(sum_);
  }

 private:
  /// Layers of this stage that have the weight, as a part of all layers of its kind.
  [[nodiscard]] std::int64_t instances(const NamedWeight& weight) const {
    const std::int64_t all = rank_count(weight, layout_);
    if (weight.group < 0) return all;
    const auto group = static_cast<std::size_t>(weight.group);
    return all / a_.layers[group].count * stage_.layers[group];
  }

  [[nodiscard]] bool is_here(const NamedWeight& weight) const {
    if (weight.group >= 0) return true;
    if (weight.draft) return stage_.last;
    const bool embedding = weight.name.starts_with("embed_tokens");
    if (!embedding) return stage_.last;
    return stage_.first || (a_.tied_embeddings && stage_.last);
  }

  void add(const NamedWeight& weight) {
    if (!is_here(weight)) return;
    WeightShape shape = rank_shape(weight, layout_);
    const Precision storage = weight_storage(weight, scenario_);
    const std::int64_t plain = shape.rows;
    if (weight.sharding == Sharding::vocab && engine_.vocab_multiple > 1) {
      NamedWeight padded = weight;
      padded.rows = rounded_up(weight.rows, engine_.vocab_multiple);
      shape = rank_shape(padded, layout_);
    }
    const std::int64_t count = instances(weight);
    const ByteCount each = stored(shape.rows * shape.cols, storage);
    if (weight.draft) sum_.draft = sum_.draft + each * count;
    if (weight.draft && !settings_.draft) return;
    sum_.padding = sum_.padding + stored((shape.rows - plain) * shape.cols, storage) * count;
    if (weight.scale) sum_.scales = sum_.scales + each * count;
    const std::int64_t multiple = engine_.block_format_multiple;
    if (multiple > 1 && (storage == Precision::mxfp4 || storage == Precision::nvfp4)) {
      const std::int64_t wide = rounded_up(shape.rows, multiple) * rounded_up(shape.cols, multiple);
      sum_.kernel_padding =
          sum_.kernel_padding + stored(wide - shape.rows * shape.cols, storage) * count;
    }
    add_part(storage, each * count);
    if (engine_.pytorch_allocator) add_tensor(weight, each, count);
  }

  void add_part(Precision storage, ByteCount bytes) {
    sum_.bytes = sum_.bytes + bytes;
    for (PrecisionBytes& part : sum_.parts) {
      if (part.storage != storage) continue;
      part.bytes = part.bytes + bytes;
      return;
    }
    sum_.parts.push_back({storage, bytes});
  }

  /// The set of projections that this part is fused with; nullptr: none.
  [[nodiscard]] const std::vector<std::string>* fused_set(std::string_view part) const {
    for (const std::vector<std::string>& set : engine_.fused) {
      if (std::find(set.begin(), set.end(), part) != set.end()) return &set;
    }
    return nullptr;
  }

  void add_tensor(const NamedWeight& weight, ByteCount each, std::int64_t count) {
    if (count <= 0 || each.overflowed()) return;
    Pending tensor{each, count, nullptr, weight.group, {}, {}};
    if (engine_.stacked_experts && weight.experts > 0) {
      const std::int64_t layers = stage_.layers[static_cast<std::size_t>(weight.group)];
      if (layers > 0) {
        tensor.bytes = each * (count / layers);
        tensor.count = layers;
      }
    }
    const NameParts parts = parts_of(weight.name);
    tensor.set = fused_set(parts.part);
    if (tensor.set == nullptr) return round(tensor);
    tensor.before = parts.before;
    tensor.behind = parts.behind;
    for (Pending& open : open_) {
      const bool same = open.set == tensor.set && open.group == tensor.group &&
                        open.before == tensor.before && open.behind == tensor.behind;
      if (!same) continue;
      open.bytes = open.bytes + tensor.bytes;
      return;
    }
    open_.push_back(tensor);
  }

  struct Pending {
    ByteCount bytes;
    std::int64_t count;
    const std::vector<std::string>* set;
    int group;
    std::string_view before, behind;
  };

  void round(const Pending& tensor) {
    constexpr std::int64_t kMost = std::int64_t{1} << 60U;  // so that rounding cannot wrap
    const std::int64_t size = std::min(tensor.bytes.count().value_or(0), kMost);
    const ByteInterval added = rounding_of(size);
    sum_.rounding.low = sum_.rounding.low + added.low * tensor.count;
    sum_.rounding.high = sum_.rounding.high + added.high * tensor.count;
  }

  void flush() {
    for (const Pending& tensor : open_) round(tensor);
  }

  std::deque<NamedWeight> asked_;  ///< scales; open sets keep parts of their names

  void add_rotary() {
    if (!engine_.rotary_table || a_.max_positions <= 0) return;
    std::vector<std::int64_t> sizes;
    for (std::size_t g = 0; g < a_.layers.size(); ++g) {
      const LayerGroup& layer = a_.layers[g];
      if (stage_.layers[g] == 0) continue;
      std::int64_t size = 0;
      if (layer.mixer == Mixer::latent_attention) size = layer.latent.rope_dim;
      if (layer.mixer == Mixer::attention && layer.attention.rope) {
        const AttentionShape& s = layer.attention;
        size = s.rotary_dim > 0 ? s.rotary_dim : s.head_dim;
      }
      const bool known = std::find(sizes.begin(), sizes.end(), size) != sizes.end();
      if (size == 0 || known) continue;
      sizes.push_back(size);
      sum_.rotary = sum_.rotary + ByteCount(a_.max_positions) * size * 2;
    }
    sum_.bytes = sum_.bytes + sum_.rotary;
  }

  const Architecture& a_;
  const Scenario& scenario_;
  const ParallelLayout& layout_;
  const StageContent& stage_;
  const EngineProfile& engine_;
  const LedgerSettings& settings_;
  std::vector<Pending> open_;
  RankWeights sum_;
};

}  // namespace

StageContent stage_content(const Architecture& architecture, const ParallelLayout& layout,
                           std::int64_t stage, std::int64_t total) {
  StageContent content;
  content.layers.assign(architecture.layers.size(), 0);
  content.first = stage == 0;
  content.last = stage + 1 == layout.pp;
  const StageLayers part = stage_layers(total, layout, stage);
  const std::int64_t cycle = architecture.layer_count();
  if (part.first == 0 && part.count == cycle) {
    for (std::size_t g = 0; g < architecture.layers.size(); ++g)
      content.layers[g] = architecture.layers[g].count;
    return content;
  }
  const std::int64_t whole = part.count / cycle;
  for (std::size_t g = 0; g < architecture.layers.size(); ++g)
    content.layers[g] = whole * architecture.layers[g].count;
  const std::vector<int> order = architecture.layer_order();
  for (std::int64_t i = whole * cycle; i < part.count; ++i) {
    ++content.layers[static_cast<std::size_t>(
        order[static_cast<std::size_t>((part.first + i) % cycle)])];
  }
  return content;
}

RankWeights rank_weights(const Architecture& architecture, const Scenario& scenario,
                         const ParallelLayout& layout, const StageContent& stage,
                         const EngineProfile& engine, const LedgerSettings& settings) {
  return WeightSum(architecture, scenario, layout, stage, engine, settings).sum();
}

}  // namespace floorline
