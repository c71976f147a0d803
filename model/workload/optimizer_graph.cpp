// SPDX-License-Identifier: Apache-2.0
#include "model/workload/optimizer_graph.hpp"

#include <algorithm>

namespace floorline {

namespace {

constexpr std::int64_t kBlock = 256;  // elements of an 8-bit moment that share a scale
constexpr std::int64_t kAdamWFlops = 12;
constexpr std::int64_t kSgdFlops = 4;

bool is_wide(Precision dtype) { return storage_bits(dtype) >= storage_bits(Precision::fp32); }

std::int64_t bytes_of(std::int64_t elements, Precision dtype) {
  return static_cast<std::int64_t>(static_cast<double>(elements) * storage_bits(dtype) / 8.0);
}

std::string suffix(Precision dtype, std::size_t index) {
  return index == 0 ? "" : "_" + std::string(name_of(dtype));
}

}  // namespace

std::int64_t WeightUpdate::share(std::int64_t parameters) const {
  return plan_.zero > 0 ? (parameters + dp_ - 1) / dp_ : parameters;
}

std::int64_t WeightUpdate::elements(const std::vector<TensorId>& ids) const {
  std::int64_t sum = 0;
  for (const TensorId id : ids) sum += e_.elements(id);
  return sum;
}

std::vector<Precision> WeightUpdate::storages(const std::vector<TensorId>& ids) const {
  std::vector<Precision> all;
  for (const TensorId id : ids) {
    const Precision dtype = e_.tensor(id).dtype;
    if (std::find(all.begin(), all.end(), dtype) == all.end()) all.push_back(dtype);
  }
  return all;
}

std::vector<TensorId> WeightUpdate::stored_as(const std::vector<TensorId>& ids,
                                              Precision dtype) const {
  std::vector<TensorId> some;
  std::copy_if(ids.begin(), ids.end(), std::back_inserter(some),
               [&](TensorId id) { return e_.tensor(id).dtype == dtype; });
  return some;
}

void WeightUpdate::gather(WeightClass& owner, const std::vector<TensorId>& into,
                          const std::string& name) {
  const std::vector<Precision> dtypes = storages(owner.weights);
  for (std::size_t i = 0; i < dtypes.size(); ++i) {
    const std::vector<TensorId> parts = stored_as(into, dtypes[i]);
    const std::int64_t n = elements(parts);
    if (owner.shards.size() <= i) {
      owner.shards.push_back(e_.vector(owner.prefix + "params.shard" + suffix(dtypes[i], i),
                                       share(n), dtypes[i], TensorRole::weight));
    }
    e_.collective(owner.prefix + name + suffix(dtypes[i], i), OperatorKind::all_gather,
                  {owner.shards[i]}, parts, bytes_of(n, dtypes[i]), dp_);
  }
}

std::vector<TensorId> WeightUpdate::reduce(const WeightClass& owner,
                                           const std::vector<TensorId>& gradients) {
  if (dp_ == 1 || gradients.empty()) return gradients;
  const std::int64_t n = elements(gradients);
  const bool scatter = plan_.zero > 0;
  const TensorId out = e_.vector(owner.prefix + "grads.reduced", share(n), plan_.grad_dtype,
                                 TensorRole::intermediate);
  e_.collective(owner.prefix + (scatter ? "grad_reduce_scatter" : "grad_all_reduce"),
                scatter ? OperatorKind::reduce_scatter : OperatorKind::all_reduce, gradients, {out},
                bytes_of(n, plan_.grad_dtype), dp_);
  return {out};
}

void WeightUpdate::add_state(const WeightClass& owner, const char* name, std::int64_t n,
                             Precision dtype, Tensors& tensors) {
  if (n == 0) return;
  const std::string full = owner.prefix + name;
  tensors.inputs.push_back(e_.vector(full, n, dtype, TensorRole::state));
  tensors.outputs.push_back(e_.vector(full + ".new", n, dtype, TensorRole::state));
}

void WeightUpdate::add_states(const WeightClass& owner, Tensors& tensors) {
  const std::int64_t n = share(elements(owner.weights));
  if (plan_.optimizer == OptimizerKind::adamw8bit) {
    for (const char* name : {"m", "v"}) {
      add_state(owner, name, n, Precision::int8, tensors);
      const std::string scales = std::string(name) + ".scales";
      add_state(owner, scales.c_str(), (n + kBlock - 1) / kBlock, Precision::fp32, tensors);
    }
    return;
  }
  if (plan_.optimizer == OptimizerKind::adamw_bf16) {
    const std::vector<Precision> dtypes = storages(owner.weights);
    for (std::size_t i = 0; i < dtypes.size(); ++i) {
      const std::int64_t part = share(elements(stored_as(owner.weights, dtypes[i])));
      for (const char* name : {"m", "v"})
        add_state(owner, (name + suffix(dtypes[i], i)).c_str(), part, dtypes[i], tensors);
    }
    return;
  }
  std::int64_t narrow = 0;
  for (const TensorId id : owner.weights) {
    if (!is_wide(e_.tensor(id).dtype)) narrow += e_.elements(id);
  }
  add_state(owner, "master", share(narrow), Precision::fp32, tensors);
  add_state(owner, "m", n, Precision::fp32, tensors);
  if (plan_.optimizer == OptimizerKind::adamw) add_state(owner, "v", n, Precision::fp32, tensors);
}

/// Weights that have no master are read themselves.
void WeightUpdate::read_weights(const WeightClass& owner, Precision dtype, Tensors& tensors) {
  const bool has_master =
      plan_.optimizer == OptimizerKind::adamw || plan_.optimizer == OptimizerKind::sgd;
  if (has_master && !is_wide(dtype)) return;
  const bool part = dp_ > 1 && plan_.zero > 0;
  if (part && !gathers()) return;
  for (const TensorId id : stored_as(part ? owner.shards : owner.weights, dtype)) {
    tensors.inputs.push_back(id);
  }
}

void WeightUpdate::update(const WeightClass& owner, const std::vector<TensorId>& gradients) {
  Tensors tensors{gradients, {}};
  add_states(owner, tensors);
  const std::vector<Precision> dtypes = storages(owner.weights);
  std::vector<TensorId> updated;
  for (std::size_t i = 0; i < dtypes.size(); ++i) {
    read_weights(owner, dtypes[i], tensors);
    const std::int64_t n = share(elements(stored_as(owner.weights, dtypes[i])));
    updated.push_back(e_.vector(owner.prefix + "params.new" + suffix(dtypes[i], i), n, dtypes[i],
                                TensorRole::state));
    tensors.outputs.push_back(updated.back());
  }
  Operator& op =
      e_.add(owner.prefix + "optimizer", OperatorKind::optimizer, tensors.inputs, tensors.outputs);
  e_.set(op, Key::n, share(elements(owner.weights)));
  e_.set(op, Key::flops, plan_.optimizer == OptimizerKind::sgd ? kSgdFlops : kAdamWFlops);
  if (dp_ == 1 || plan_.zero == 0 || gathers()) return;
  for (std::size_t i = 0; i < dtypes.size(); ++i) {
    const std::int64_t n = elements(stored_as(owner.weights, dtypes[i]));
    const std::string name = owner.prefix + "params_gather" + suffix(dtypes[i], i);
    const TensorId all = e_.vector(name + ".out", n, dtypes[i], TensorRole::state);
    e_.collective(name, OperatorKind::all_gather, {updated[i]}, {all}, bytes_of(n, dtypes[i]), dp_);
  }
}

}  // namespace floorline
