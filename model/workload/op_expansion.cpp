// SPDX-License-Identifier: Apache-2.0
#include "model/workload/op_expansion.hpp"

namespace floorline {

TensorId OpExpansion::tensor(const std::string& name, const std::vector<std::string>& shape,
                             Precision dtype, TensorRole role) {
  Tensor tensor;
  tensor.name = name;
  tensor.dtype = dtype;
  tensor.role = role;
  tensor.at = at_;
  for (const std::string& dim : shape) {
    tensor.shape.push_back(Expression::parse(dim, graph_.symbols, at_, "shape", diagnostics_));
  }
  graph_.tensors.push_back(std::move(tensor));
  return static_cast<TensorId>(graph_.tensors.size() - 1);
}

Operator& OpExpansion::add(OperatorKind kind, const std::string& name, std::vector<TensorId> inputs,
                           std::vector<TensorId> outputs) {
  Operator op;
  op.kind = kind;
  op.name = name;
  op.inputs = std::move(inputs);
  op.outputs = std::move(outputs);
  op.at = at_;
  if (info(kind).matrix) {
    op.compute = precisions_.compute;
    op.accumulate = precisions_.accumulate;
    op.sparse = precisions_.sparse;
  }
  graph_.ops.push_back(std::move(op));
  return graph_.ops.back();
}

void OpExpansion::set(Operator& op, Key key, const std::string& value) {
  op.attributes.push_back({key, Expression::parse(value, graph_.symbols, at_,
                                                  std::string(name_of(key)), diagnostics_)});
}

/// Products and softmax over whole rows, which fusion understands.
void OpExpansion::naive_attention_unmasked() {
  const TensorRole input = TensorRole::input;
  const TensorId q = tensor("q", {"batch", "q_len", "q_heads", "head_dim"}, precisions_.in, input);
  const TensorId k =
      tensor("k", {"batch", "kv_len", "kv_heads", "head_dim"}, precisions_.kv, input);
  const TensorId v = tensor("v", {"batch", "kv_len", "kv_heads", "v_dim"}, precisions_.kv, input);
  const std::vector<std::string> scores{"batch*q_heads", "q_len", "kv_len"};
  const TensorId s = between("scores", scores);
  const TensorId p = between("probabilities", scores);
  const TensorId o =
      tensor("out", {"batch", "q_len", "q_heads", "v_dim"}, precisions_.out, TensorRole::output);
  // Query heads that share keys and values are rows of one product.
  const auto product = [&](const char* name, std::vector<TensorId> from, TensorId to,
                           const char* length) {
    Operator& op = add(OperatorKind::gemm, name, std::move(from), {to});
    set(op, Key::k, length);
    set(op, Key::batch, "batch*kv_heads");
  };
  product("scores", {q, k}, s, "head_dim");
  add(OperatorKind::softmax, "softmax", {s}, {p});
  product("values", {p, v}, o, "kv_len");
  graph_.assumptions.push_back("naive attention: scores and probabilities cross HBM");
}

/// Under a causal mask or a window only the unmasked scores are counted, stored without gaps: the
/// least that such kernels could move.
void OpExpansion::naive_attention() {
  // As expressions of the symbols, so that --set window=… and causal=… hold afterwards.
  const std::string before = "(kv_len-q_len)";
  const std::string window = "min(kv_len,window+kv_len*(1-min(1,window)))";  // 0: all keys
  const std::string open = "max(0,min(q_len," + window + "-" + before + "))";
  const std::string masked = "(" + open + "*" + before + "+" + open + "*(" + open +
                             "+1)/2+(q_len-" + open + ")*" + window + ")";
  const std::string pairs = "(causal*" + masked + "+(1-causal)*q_len*kv_len)";
  const std::string visible = "(causal*min(kv_len,q_len+" + window + "-1)+(1-causal)*kv_len)";
  const std::string scores = "batch*q_heads*" + pairs;
  const TensorRole input = TensorRole::input;
  const TensorId q = tensor("q", {"batch", "q_len", "q_heads", "head_dim"}, precisions_.in, input);
  const TensorId k = tensor("k", {"batch", visible, "kv_heads", "head_dim"}, precisions_.kv, input);
  const TensorId v = tensor("v", {"batch", visible, "kv_heads", "v_dim"}, precisions_.kv, input);
  const TensorId s = between("scores", {scores});
  const TensorId p = between("probabilities", {scores});
  const TensorId o =
      tensor("out", {"batch", "q_len", "q_heads", "v_dim"}, precisions_.out, TensorRole::output);
  set(add(OperatorKind::custom, "scores", {q, k}, {s}), Key::flops, "2*head_dim*" + scores);
  add(OperatorKind::softmax, "softmax", {s}, {p});
  set(add(OperatorKind::custom, "values", {p, v}, {o}), Key::flops, "2*v_dim*" + scores);
  graph_.assumptions.push_back(
      "naive attention: scores and probabilities cross HBM; masked scores are not counted");
}

void OpExpansion::set_routing(Operator& op) {
  for (const Key key : {Key::tokens, Key::top_k, Key::experts, Key::ep}) {
    set(op, key, std::string(name_of(key)));
  }
  if (op.kind == OperatorKind::grouped_gemm && graph_.symbol("distinct")) {
    set(op, Key::distinct, "distinct");
  }
}

/// tokens are those of all ep ranks. With one rank the expert product gathers its rows itself; with
/// more it reads the fewest distinct tokens that its rows can come from.
void OpExpansion::mixture_of_experts() {
  const bool exchanged = graph_.symbol("ep").value_or(1) > 1;
  const bool sharded = graph_.symbol("tp").value_or(1) > 1;
  const std::string own = "ceil(tokens/ep)";
  const std::string rows = "ceil(tokens*top_k/ep)";
  const std::string local = "experts/ep";
  const TensorRole weight = TensorRole::weight;
  const TensorId x = tensor("x", {own, "hidden"}, precisions_.in, TensorRole::input);
  const TensorId w = tensor("router.weight", {"hidden", "experts"}, precisions_.weight, weight);
  const TensorId scores = between("scores", {own, "experts"});
  add(OperatorKind::gemm, "router", {x, w}, {scores});
  TensorId read = x;
  if (exchanged) {
    read = between("arrived", {"ceil(" + rows + "/min(top_k," + local + "))", "hidden"});
    Operator& op = add(OperatorKind::dispatch, "dispatch", {x, scores}, {read});
    set_routing(op);
    set(op, Key::hidden, "hidden");
  }
  std::vector<TensorId> inputs{read};
  std::vector<TensorId> projected;
  for (const char* name : {"gate", "up"}) {
    if (std::string(name) == "gate" && !is_set("gated")) continue;
    inputs.push_back(tensor(std::string(name) + ".weight", {local, "hidden", "inter/tp"},
                            precisions_.weight, weight));
    projected.push_back(between(name, {rows, "inter/tp"}));
  }
  inputs.push_back(scores);
  Operator& up =
      add(OperatorKind::grouped_gemm, is_set("gated") ? "gate_up" : "up", inputs, projected);
  set_routing(up);
  set(up, Key::k, "hidden");
  const TensorId act = between("activated", {rows, "inter/tp"});
  Operator& silu = add(OperatorKind::elementwise, "activation", projected, {act});
  set(silu, Key::flops, is_set("gated") ? "4" : "3");
  set(silu, Key::exps, "1");
  const TensorId dw =
      tensor("down.weight", {local, "inter/tp", "hidden"}, precisions_.weight, weight);
  const TensorId y = between("expert_rows", {rows, "hidden"});
  Operator& down = add(OperatorKind::grouped_gemm, "down", {act, dw}, {y});
  set_routing(down);
  set(down, Key::k, "inter/tp");
  const TensorId out = tensor("out", {own, "hidden"}, precisions_.out, TensorRole::output);
  const TensorId sum = sharded ? between("partial", {own, "hidden"}) : out;
  Operator& combine = add(OperatorKind::combine, "combine", {y, scores}, {sum});
  set_routing(combine);
  set(combine, Key::hidden, "hidden");
  if (sharded) set(add(OperatorKind::all_reduce, "all_reduce", {sum}, {out}), Key::ranks, "tp");
  graph_.assumptions.push_back("moe: top-k selection and expert weights' softmax are not counted");
}

}  // namespace floorline
