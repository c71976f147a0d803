// SPDX-License-Identifier: Apache-2.0
#include "validation/observation/row_graph.hpp"

#include <algorithm>
#include <string>

#include "model/quantity/expect.hpp"
#include "validation/observation/row_text.hpp"

namespace floorline {

/// What needs a graph of its own.
struct RowGraphs::Shape {
  RowForm form = RowForm::one_operator;
  OperatorKind kind = OperatorKind::gemm;
  Reading reading;
  bool in_sequences = false;  ///< chunks of one context as sequences of one kernel

  [[nodiscard]] std::uint64_t key() const {
    std::uint64_t key = in_sequences ? 1 : 0;
    for (const Precision p : {reading.in, reading.second, reading.out, reading.compute}) {
      key = key << 8U | static_cast<std::uint64_t>(p);
    }
    return (key << 8U | static_cast<std::uint64_t>(kind)) << 4U | static_cast<std::uint64_t>(form);
  }
};

namespace {

struct GemmForm {
  Precision in, weight, compute;
};

/// By the words of the collectors: README.md of the data.
GemmForm gemm_form(GemmDtype dtype) {
  switch (dtype) {
    case GemmDtype::bfloat16:
      return {Precision::bf16, Precision::bf16, Precision::bf16};
    case GemmDtype::fp8:
    case GemmDtype::fp8_block:
    case GemmDtype::fp8_static:
      return {Precision::bf16, Precision::fp8_e4m3, Precision::fp8_e4m3};
    // 4.5 bits a weight; x at least 4; which unit multiplies is not said: the fastest.
    case GemmDtype::nvfp4:
      return {Precision::fp4, Precision::nvfp4, Precision::any};
    case GemmDtype::int4_wo:
      return {Precision::bf16, Precision::int4, Precision::bf16};
    case GemmDtype::int8_wo:
    case GemmDtype::int8_sq:
      return {Precision::bf16, Precision::int8, Precision::bf16};
    case GemmDtype::int8_w8a8:
      return {Precision::int8, Precision::int8, Precision::bf16};
    case GemmDtype::float16:
      return {Precision::fp16, Precision::fp16, Precision::fp16};
  }
  return {};
}

/// Whether x enters quantized is not said: the narrower.
GemmForm moe_form(MoeDtype dtype) {
  switch (dtype) {
    case MoeDtype::bfloat16:
      return {Precision::bf16, Precision::bf16, Precision::bf16};
    case MoeDtype::fp8:
    case MoeDtype::fp8_block:
      return {Precision::fp8_e4m3, Precision::fp8_e4m3, Precision::fp8_e4m3};
    case MoeDtype::int4_wo:
      return {Precision::bf16, Precision::int4, Precision::bf16};
    case MoeDtype::w4a16_mxfp4:
      return {Precision::bf16, Precision::mxfp4, Precision::bf16};
    case MoeDtype::w4afp8:
      return {Precision::fp8_e4m3, Precision::int4, Precision::fp8_e4m3};
  }
  return {};
}

/// The sizes of a row, as the values of a graph's symbols.
class Sizes {
 public:
  Sizes(const OperatorGraph& graph, std::vector<double>& values) : graph_(graph), values_(values) {}

  void set(std::string_view symbol, std::int64_t value) const {
    const std::optional<int> slot = graph_.symbols.find(symbol);
    FLOORLINE_EXPECT(slot.has_value());
    values_[static_cast<std::size_t>(*slot)] = static_cast<double>(value);
  }
  void operator()(const GemmKeys& keys) const {
    set("m", keys.m);
    set("n", keys.n);
    set("k", keys.k);
  }
  void operator()(const CollectiveRowKeys& keys) const {
    set("bytes", keys.bytes);
    if (keys.op != OperatorKind::send_recv) set("ranks", keys.ranks);
  }
  void operator()(const AttentionKeys& keys) const {
    set("batch", keys.batch);
    set("q_heads", keys.q_heads);
    set("kv_heads", keys.kv_heads);
    set("q_len", keys.q_len);
    set("kv_len", keys.kv_len);
    set("head_dim", keys.head_dim);
    set("window", keys.window);
  }
  void operator()(const MoeKeys& keys) const {
    set("tokens", keys.tokens);
    set("hidden", keys.hidden);
    set("width", keys.inter / keys.tp);
    set("top_k", keys.top_k);
    set("experts", keys.experts);
    set("ep", keys.ep);
  }
  void operator()(const LatentKeys& keys) const {
    set("batch", keys.batch);
    set("q_len", keys.q_len);
    set("kv_len", keys.kv_len);
    set("heads", keys.heads);
  }
  void operator()(const LatentProductKeys& keys) const {
    set("batch", keys.heads);
    set("m", keys.tokens);
    set("k", keys.to_latent ? kLatentHead : kLatentRank);
    set("n", keys.to_latent ? kLatentRank : kLatentHead);
  }
  void operator()(const QuantizeKeys& keys) const {
    set("rows", keys.m);
    set("cols", keys.k);
  }
  void operator()(const ElementwiseKeys& keys) const {
    if (keys.is_table()) {  // which rows is not said: at least one
      set("tokens", keys.tokens);
      set("cols", keys.width);
    } else {
      set("n", keys.tokens * keys.width);
      set("reads", keys.reads);
    }
  }
  void operator()(const ServingKeys&) const {}

 private:
  static constexpr std::int64_t kLatentHead = 128;
  static constexpr std::int64_t kLatentRank = 512;
  const OperatorGraph& graph_;
  std::vector<double>& values_;
};

/// A context cut into chunks: sequences of their own, in one kernel.
std::vector<SequenceGroup> chunks_of(const AttentionKeys& keys) {
  const std::int64_t whole = keys.batch * (keys.kv_len / keys.window);
  const auto chunk = static_cast<double>(keys.window);
  const auto rest = static_cast<double>(keys.kv_len % keys.window);
  return {{static_cast<double>(whole), chunk, chunk},
          {static_cast<double>(keys.batch), rest, rest}};
}

bool has_chunks(const AttentionKeys& keys, const Reading& reading) {
  return reading.chunked && keys.window > 0;
}

OperatorKind kind_of(const RowKeys& keys) {
  if (const auto* call = std::get_if<CollectiveRowKeys>(&keys.work)) return call->op;
  if (std::holds_alternative<AttentionKeys>(keys.work)) return OperatorKind::attention;
  if (std::holds_alternative<QuantizeKeys>(keys.work)) return OperatorKind::quantize;
  if (const auto* pass = std::get_if<ElementwiseKeys>(&keys.work)) {
    return pass->is_table() ? OperatorKind::embedding : OperatorKind::elementwise;
  }
  return OperatorKind::gemm;
}

RowForm form_of(const RowKeys& keys, const Reading& reading) {
  if (std::holds_alternative<MoeKeys>(keys.work)) {
    return reading.gated ? RowForm::gated_experts : RowForm::experts;
  }
  if (std::holds_alternative<LatentProductKeys>(keys.work)) return RowForm::product_a_head;
  if (keys.kind == RowKind::mla_context) return RowForm::latent_context;
  if (keys.kind == RowKind::mla_decode) return RowForm::latent_decode;
  return RowForm::one_operator;
}

void set_form(const GemmForm& form, Reading& reading) {
  reading.in = form.in;
  reading.second = form.weight;
  reading.compute = form.compute;
}

/// The whole graph's demand as that of one kernel: only what enters it or leaves it crosses HBM.
Demand fused_demand(const BoundGraph& bound, const OnChip& chip, GraphFloors& floors) {
  static const Rates kNoRates;  // demand alone
  graph_floors(bound, kNoRates, chip, floors);
  const GraphDemand& fused = floors.fused_demand;
  Demand demand;
  demand.flops = fused.flops;
  demand.hbm_read = fused.hbm_read;
  demand.hbm_write = fused.hbm_write;
  for (int i = 0; i < fused.count; ++i) {
    const DemandEntry& entry = fused.entries[static_cast<std::size_t>(i)];
    demand.add(entry.resource, entry.amount);
  }
  return demand;
}

/// A message of which a part may lie in buffers when the kernel starts or ends.
void leave_buffered(Bytes buffered, Demand& demand) {
  const auto beyond = [&](Bytes amount) { return std::max(Bytes(0), amount - buffered); };
  for (int i = 0; i < demand.count; ++i) {
    Amount& amount = demand.entries[static_cast<std::size_t>(i)].amount;
    amount = Amount(beyond(Bytes(amount.in_base_units())));
  }
  demand.hbm_read = beyond(demand.hbm_read);
  demand.hbm_write = beyond(demand.hbm_write);
}

}  // namespace

namespace {

struct PlainReading {
  Reading& reading;
  void operator()(const GemmKeys& keys) const {
    set_form(gemm_form(keys.dtype), reading);
    if (keys.dtype == GemmDtype::float16) reading.out = Precision::fp16;
  }
  void operator()(const AttentionKeys& keys) const {
    reading.in = reading.out = reading.compute = keys.attention;
    reading.second = keys.kv;
    reading.v_dim = keys.head_dim;
  }
  void operator()(const MoeKeys& keys) const { set_form(moe_form(keys.dtype), reading); }
  /// Of what precision Q and the result are is not said: the cache's.
  void operator()(const LatentKeys& keys) const {
    reading.in = reading.second = reading.out = keys.kv;
  }
  void operator()(const LatentProductKeys& keys) const {
    reading.in = reading.second = reading.compute = keys.dtype;
  }
  void operator()(const QuantizeKeys&) const { reading.out = Precision::fp8_e4m3; }
  void operator()(const ElementwiseKeys&) const {
    reading.in = reading.second = reading.out = Precision::fp16;
  }
  void operator()(const CollectiveRowKeys&) const {}
  void operator()(const ServingKeys&) const {}
};

}  // namespace

Reading plain_reading(const RowKeys& keys) {
  Reading reading;
  std::visit(PlainReading{reading}, keys.work);
  return reading;
}

RowGraphs::Prepared& RowGraphs::prepared(const Shape& shape) {
  const auto [found, is_new] = prepared_.try_emplace(shape.key());
  Prepared& made = found->second;
  if (is_new) {
    made.graph = graph_of(shape.form, shape.kind, shape.reading);
    if (shape.in_sequences) made.graph.ops.front().sequences.resize(2);
    made.bound = bind(made.graph);
    made.values = made.graph.symbol_values;
    if (made.graph.ops.size() > 1) prepare(made.bound, made.floors);
  }
  return made;
}

std::optional<Demand> RowGraphs::demand(const RowKeys& keys, const Reading& reading,
                                        const OnChip& chip) {
  const auto* attention = std::get_if<AttentionKeys>(&keys.work);
  const bool chunked = attention != nullptr && has_chunks(*attention, reading);
  const bool in_sequences = chunked && keys.kind == RowKind::attn_context;
  Prepared& row = prepared({form_of(keys, reading), kind_of(keys), reading, in_sequences});
  const Sizes sizes(row.graph, row.values);
  std::visit(sizes, keys.work);
  if (attention != nullptr) {
    sizes.set("v_dim", reading.v_dim);
    sizes.set("causal", keys.kind == RowKind::attn_encoder ? 0 : 1);
  }
  if (chunked) sizes.set("window", 0);
  if (in_sequences) {
    row.bound.sequences = chunks_of(*attention);
  } else if (chunked) {  // a token that is decoded sees its own chunk only
    sizes.set("kv_len", (attention->kv_len - 1) % attention->window + 1);
  }
  if (!rebind(row.graph, row.values, row.bound)) return std::nullopt;
  row.bound.routing = reading.routing;
  OnChip fabric = chip;
  if (kind_of(keys) == OperatorKind::all_reduce) {
    fabric.in_network_reduction_possible = reading.fabric_reduces;
  }
  // Of Vidur's nodes the links between pairs and nodes are not known: all joined, the lower floor.
  if (keys.kind == RowKind::vidur_collective) fabric.devices_per_node = 0;
  Demand demand = row.bound.ops.size() > 1 ? fused_demand(row.bound, fabric, row.floors)
                                           : demand_of(row.bound, row.bound.ops.front(), fabric);
  if (reading.buffered > Bytes(0)) leave_buffered(reading.buffered, demand);
  return demand;
}

}  // namespace floorline
