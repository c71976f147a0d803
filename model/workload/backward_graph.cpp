// SPDX-License-Identifier: Apache-2.0
#include "model/workload/backward_graph.hpp"

#include <algorithm>

#include "model/input/diagnostic.hpp"
#include "model/quantity/expect.hpp"

namespace floorline {

namespace {

bool is_norm(OperatorKind kind) {
  return kind == OperatorKind::rmsnorm || kind == OperatorKind::layernorm;
}

void copy_precision(const Operator& from, Operator& to) {
  to.compute = from.compute;
  to.accumulate = from.accumulate;
}

}  // namespace

TensorId BackwardWalk::saved(TensorId id) const {
  const auto found = replaced_.find(id);
  return found == replaced_.end() ? id : found->second;
}

TensorId BackwardWalk::gradient(TensorId of) const {
  const auto found = gradients_.find(of);
  FLOORLINE_EXPECT(found != gradients_.end());
  return found->second;
}

bool BackwardWalk::divides_outputs(TensorId weight) const {
  const std::string& name = e_.tensor(weight).name;
  return std::any_of(architecture_.weights.begin(), architecture_.weights.end(),
                     [&](const NamedWeight& w) {
                       return name.ends_with(w.name) && w.sharding != Sharding::replicated &&
                              w.sharding != Sharding::row;
                     });
}

TensorId BackwardWalk::new_gradient(TensorId of, const std::string& name) {
  std::string made = name.empty() ? e_.tensor(of).name + ".grad" : name;
  while (e_.graph.find_tensor(made)) made += "+";  // read by several operators
  return e_.like(of, made, e_.tensor(of).dtype);
}

TensorId BackwardWalk::weight_gradient(TensorId weight, const std::string& suffix) {
  const TensorId made = e_.like(weight, e_.tensor(weight).name + suffix, grad_dtype_);
  weights_.push_back({weight, made});
  return made;
}

void BackwardWalk::give(TensorId of, TensorId gradient) {
  if (!has_gradient(of)) {
    gradients_[of] = gradient;
    return;
  }
  const std::string name = e_.tensor(of).name + ".grad_sum";
  const TensorId sum = new_gradient(of, name);
  Operator& op = e_.add(name, OperatorKind::elementwise, {gradients_[of], gradient}, {sum});
  e_.set(op, Key::flops, 1);
  gradients_[of] = sum;
}

void BackwardWalk::add(const Operator& op) {
  if (is_norm(op.kind)) return add_any_norm(op);
  switch (op.kind) {
    case OperatorKind::gemm:
      return add_product(op);
    case OperatorKind::attention:
      return add_attention(op);
    case OperatorKind::rope:
      return add_rope(op);
    case OperatorKind::elementwise:
      return add_elementwise(op);
    case OperatorKind::embedding:
      return add_embedding(op);
    case OperatorKind::all_reduce:
      return give(op.inputs[0], gradient(op.outputs[0]));
    default:
      throw InputError(Diagnostic{architecture_.at, "phase",
                                  "training is not understood yet for the operator \"" + op.name +
                                      "\" of kind " + std::string(name_of(op.kind)) +
                                      "; expected a dense decoder (" + architecture_.name + ")"});
  }
}

/// x is the first input; weights follow, one an output.
void BackwardWalk::add_product(const Operator& op) {
  const TensorId x = op.inputs[0];
  const std::size_t products = op.outputs.size();
  FLOORLINE_EXPECT(op.inputs.size() == products + 1);
  std::vector<TensorId> gradients;
  std::vector<TensorId> weights;
  std::int64_t length = 0;
  bool partial = false;
  for (std::size_t i = 0; i < products; ++i) {
    gradients.push_back(gradient(op.outputs[i]));
    weights.push_back(saved(op.inputs[i + 1]));
    length += e_.last_dim(op.outputs[i]);
    partial = partial || (tp_ > 1 && divides_outputs(op.inputs[i + 1]));
  }
  std::vector<TensorId> factors = gradients;
  factors.insert(factors.end(), weights.begin(), weights.end());
  TensorId dx = new_gradient(x, op.name + ".dx.out");
  Operator& left = e_.add(op.name + ".dx", OperatorKind::gemm, std::move(factors), {dx});
  copy_precision(op, left);
  e_.set(left, Key::k, length);
  std::vector<TensorId> read{saved(x)};
  read.insert(read.end(), gradients.begin(), gradients.end());
  std::vector<TensorId> made;
  for (std::size_t i = 0; i < products; ++i) made.push_back(weight_gradient(op.inputs[i + 1]));
  Operator& right = e_.add(op.name + ".dw", OperatorKind::gemm, std::move(read), std::move(made));
  copy_precision(op, right);
  e_.set(right, Key::k, "batch*new");
  if (partial) {
    const std::string name = op.name + ".dx_all_reduce";
    const TensorId sum = new_gradient(x, name + ".out");
    e_.set(e_.add(name, OperatorKind::all_reduce, {dx}, {sum}), Key::ranks, tp_);
    dx = sum;
  }
  give(x, dx);
}

void BackwardWalk::add_attention(const Operator& op) {
  std::vector<TensorId> inputs;
  std::vector<TensorId> outputs;
  for (const TensorId in : op.inputs) {
    inputs.push_back(saved(in));
    outputs.push_back(new_gradient(in));
  }
  inputs.push_back(saved(op.outputs[0]));
  inputs.push_back(gradient(op.outputs[0]));
  Operator& back = e_.add(op.name + ".backward", OperatorKind::attention_backward, inputs, outputs);
  copy_precision(op, back);
  back.attributes = op.attributes;
  back.sequences = op.sequences;
  for (std::size_t i = 0; i < outputs.size(); ++i) give(op.inputs[i], outputs[i]);
}

void BackwardWalk::add_any_norm(const Operator& op) {
  const std::string name = op.name + ".backward";
  if (op.outputs.size() == 1) {
    give(op.inputs[0], add_norm(op, gradient(op.outputs[0]), op.inputs[0], {}, name));
    return;
  }
  const TensorId sum = op.outputs[1];
  std::vector<TensorId> added;
  if (has_gradient(sum)) added.push_back(gradient(sum));
  const TensorId made = add_norm(op, gradient(op.outputs[0]), sum, added, name);
  give(op.inputs[0], made);
  give(op.inputs[1], made);
}

TensorId BackwardWalk::add_norm(const Operator& op, TensorId normed_gradient, TensorId sum,
                                const std::vector<TensorId>& added, const std::string& name) {
  const TensorId dx = new_gradient(sum, name + ".out");
  std::vector<TensorId> inputs{normed_gradient, saved(sum)};
  inputs.insert(inputs.end(), added.begin(), added.end());
  std::vector<TensorId> outputs{dx};
  // Scale and shift stand behind what is normalized, and behind the residual where there is one.
  for (std::size_t i = op.outputs.size(); i < op.inputs.size(); ++i) {
    const bool scale = i == op.outputs.size();
    if (scale) inputs.push_back(saved(op.inputs[i]));  // the shift is not read
    outputs.push_back(weight_gradient(op.inputs[i], "." + name));
  }
  e_.add(name, OperatorKind::norm_backward, std::move(inputs), std::move(outputs)).compute =
      op.compute;
  return dx;
}

void BackwardWalk::add_rope(const Operator& op) {
  std::vector<TensorId> inputs;
  std::vector<TensorId> outputs;
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    inputs.push_back(gradient(op.outputs[i]));
    outputs.push_back(new_gradient(op.inputs[i]));
  }
  Operator& back = e_.add(op.name + ".backward", OperatorKind::rope, inputs, outputs);
  copy_precision(op, back);
  back.work_scale = op.work_scale;
  for (std::size_t i = 0; i < outputs.size(); ++i) give(op.inputs[i], outputs[i]);
}

void BackwardWalk::add_elementwise(const Operator& op) {
  std::vector<TensorId> inputs{gradient(op.outputs[0])};
  std::vector<TensorId> outputs;
  for (const TensorId in : op.inputs) {
    inputs.push_back(saved(in));
    outputs.push_back(new_gradient(in));
  }
  Operator& back = e_.add(op.name + ".backward", OperatorKind::elementwise, inputs, outputs);
  copy_precision(op, back);
  back.attributes = op.attributes;
  for (std::size_t i = 0; i < outputs.size(); ++i) give(op.inputs[i], outputs[i]);
}

/// Rows of the table whose ids occur get a sum; the least is one row.
void BackwardWalk::add_embedding(const Operator& op) {
  const TensorId made = weight_gradient(op.inputs[1], ".embed_grad");
  Operator& back = e_.add(op.name + ".backward", OperatorKind::scatter,
                          {op.inputs[0], gradient(op.outputs[0])}, {made});
  e_.set(back, Key::flops, 1);
}

}  // namespace floorline
