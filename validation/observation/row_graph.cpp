// SPDX-License-Identifier: Apache-2.0
#include "validation/observation/row_graph.hpp"

#include <string>

#include "model/quantity/expect.hpp"
#include "model/workload/op_text.hpp"

namespace floorline {

/// What needs a graph of its own.
struct RowGraphs::Shape {
  OperatorKind kind = OperatorKind::gemm;
  Reading reading;
  bool in_sequences = false;  ///< chunks of one context as sequences of one kernel

  [[nodiscard]] std::uint64_t key() const {
    std::uint64_t key = in_sequences ? 1 : 0;
    for (const Precision p : {reading.in, reading.second, reading.out, reading.compute}) {
      key = key << 8U | static_cast<std::uint64_t>(p);
    }
    return key << 8U | static_cast<std::uint64_t>(kind);
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
  }
  return {};
}

/// The text of --op with every required size 1; the sizes of a row replace them.
std::string op_text(OperatorKind kind, const Reading& reading) {
  std::string text(name_of(kind));
  for (const KeyInfo& key : info(kind).keys) {
    if (!key.required) continue;
    text += " " + std::string(name_of(key.key)) + (key.key == Key::bytes ? "=1B" : "=1");
  }
  if (kind != OperatorKind::gemm && kind != OperatorKind::attention) return text;
  const auto word = [&](const char* name, Precision precision) {
    text += " " + std::string(name) + "=" + std::string(name_of(precision));
  };
  word("in", reading.in);
  word(kind == OperatorKind::gemm ? "weight" : "kv", reading.second);
  word("out", reading.out);
  word("compute", reading.compute);
  word("accumulate", Precision::any);
  return text;
}

/// The sizes of a row, as the values of a graph's symbols.
class Sizes {
 public:
  Sizes(const OperatorGraph& graph, std::vector<double>& values) : graph_(graph), values_(values) {}

  void set(Key key, std::int64_t value) const {
    const std::optional<int> slot = graph_.symbols.find(name_of(key));
    FLOORLINE_EXPECT(slot.has_value());
    values_[static_cast<std::size_t>(*slot)] = static_cast<double>(value);
  }
  void set(const GemmKeys& keys) const {
    set(Key::m, keys.m);
    set(Key::n, keys.n);
    set(Key::k, keys.k);
  }
  void set(const CollectiveKeys& keys) const {
    set(Key::bytes, keys.bytes);
    set(Key::ranks, keys.ranks);
  }
  void set(const AttentionKeys& keys, RowKind kind, std::int64_t v_dim) const {
    set(Key::batch, keys.batch);
    set(Key::q_heads, keys.q_heads);
    set(Key::kv_heads, keys.kv_heads);
    set(Key::q_len, keys.q_len);
    set(Key::kv_len, keys.kv_len);
    set(Key::head_dim, keys.head_dim);
    set(Key::v_dim, v_dim);
    set(Key::causal, kind == RowKind::attn_encoder ? 0 : 1);
    set(Key::window, keys.window);
  }

 private:
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
  if (std::holds_alternative<GemmKeys>(keys.work)) return OperatorKind::gemm;
  if (std::holds_alternative<AttentionKeys>(keys.work)) return OperatorKind::attention;
  return std::get<CollectiveKeys>(keys.work).op;
}

}  // namespace

Reading plain_reading(const RowKeys& keys) {
  Reading reading;
  if (const auto* gemm = std::get_if<GemmKeys>(&keys.work)) {
    const GemmForm form = gemm_form(gemm->dtype);
    reading.in = form.in;
    reading.second = form.weight;
    reading.compute = form.compute;
  } else if (const auto* attention = std::get_if<AttentionKeys>(&keys.work)) {
    reading.in = reading.out = reading.compute = attention->attention;
    reading.second = attention->kv;
    reading.v_dim = attention->head_dim;
  }
  return reading;
}

RowGraphs::Prepared& RowGraphs::prepared(const Shape& shape) {
  const auto [found, is_new] = prepared_.try_emplace(shape.key());
  Prepared& made = found->second;
  if (is_new) {
    made.graph = parse_op_text(op_text(shape.kind, shape.reading));
    if (shape.in_sequences) made.graph.ops.front().sequences.resize(2);
    made.bound = bind(made.graph);
    made.values = made.graph.symbol_values;
  }
  return made;
}

std::optional<Demand> RowGraphs::demand(const RowKeys& keys, const Reading& reading,
                                        const OnChip& chip) {
  const auto* attention = std::get_if<AttentionKeys>(&keys.work);
  const bool chunked = attention != nullptr && has_chunks(*attention, reading);
  const bool in_sequences = chunked && keys.kind == RowKind::attn_context;
  Prepared& row = prepared({kind_of(keys), reading, in_sequences});
  const Sizes sizes(row.graph, row.values);
  if (const auto* gemm = std::get_if<GemmKeys>(&keys.work)) sizes.set(*gemm);
  if (const auto* call = std::get_if<CollectiveKeys>(&keys.work)) sizes.set(*call);
  if (attention != nullptr) sizes.set(*attention, keys.kind, reading.v_dim);
  if (chunked) sizes.set(Key::window, 0);
  if (in_sequences) {
    row.bound.sequences = chunks_of(*attention);
  } else if (chunked) {  // a token that is decoded sees its own chunk only
    sizes.set(Key::kv_len, (attention->kv_len - 1) % attention->window + 1);
  }
  if (!rebind(row.graph, row.values, row.bound)) return std::nullopt;
  OnChip fabric = chip;
  if (kind_of(keys) == OperatorKind::all_reduce && !reading.fabric_reduces) {
    fabric.in_network_reduction_possible = false;
  }
  return demand_of(row.bound, row.bound.ops.front(), fabric);
}

}  // namespace floorline
