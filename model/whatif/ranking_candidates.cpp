// SPDX-License-Identifier: Apache-2.0
// What rank_changes() tries.
#include <algorithm>
#include <array>
#include <numeric>

#include "model/rewrite/graph_assignment.hpp"
#include "model/whatif/ranking.hpp"

namespace floorline {

namespace {

constexpr std::size_t kMostNamed = 500;  // operators that one candidate names one by one

class Candidates {
 public:
  Candidates(const Situation& s, const Outcome& before, int most)
      : situation_(s),
        before_(before),
        graph_(before.evaluation.graph),
        floors_(before.evaluation.floors),
        bound_(before.evaluation.bound),
        machine_(before.machine.get()),
        most_(most) {}

  std::vector<Candidate> all() {
    resources();
    if (situation_.kernel) {
      amounts_of_kernel();
      return std::move(all_);
    }
    operators();
    storage();
    arithmetic();
    return std::move(all_);
  }

 private:
  /// Every resource that binds an operator now or would next: the key of the device behind it.
  void resources() {
    for (std::size_t i = 0; i < floors_.ops.size(); ++i) {
      const Floor cold = floor_in(before_, i);
      for (const Term& term : cold.list()) {
        const bool speed = term.resource.unit != Unit::host;  // of the host: its work, not its rate
        if (speed && floors_.ops[i].times > 0) add_resource(term.resource);
      }
    }
  }

  void add_resource(ResourceId id) {
    const std::string key = key_of(id);
    for (Candidate& c : all_) {
      if (c.changes.front().name == key) return;
    }
    if (!situation_.kernel && !has_key(key)) return;
    Candidate c;
    c.kind = RankedKind::resource;
    c.name = name_of(id) + " twice as fast";
    c.changes = {{key, "2", true}};
    c.needs_elasticity = true;
    for (std::size_t i = 0; i < floors_.ops.size(); ++i) {
      const Limit& limit = floors_.ops[i].cold;
      if (!limit.none() && key_of(limit.resource()) == key) c.operators.push_back(i);
    }
    all_.push_back(std::move(c));
  }

  [[nodiscard]] std::string key_of(ResourceId id) const {
    if (situation_.kernel) return id.unit == Unit::memory ? "bandwidth" : "peak";
    return device_key_of(id);
  }

  [[nodiscard]] bool has_key(const std::string& key) const {
    const std::vector<std::string> keys = device_keys(situation_.device);
    return std::find(keys.begin(), keys.end(), key) != keys.end();
  }

  void amounts_of_kernel() {
    for (const char* name : {"bytes", "flops"}) {
      if (number_of(*situation_.kernel, name).base <= 0) continue;
      const bool bytes = std::string_view(name) == "bytes";
      Candidate c{bytes ? RankedKind::traffic : RankedKind::work,
                  bytes ? "half the traffic" : "half the work",
                  {{name, "0.5", true}},
                  {0},
                  true};
      all_.push_back(std::move(c));
    }
  }

  void operators() {
    std::vector<std::size_t> order(floors_.ops.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto time = [&](std::size_t i) {
      return floors_.ops[i].cold.time() * floors_.ops[i].times;
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return time(a) > time(b); });
    const std::size_t count = std::min(order.size(), static_cast<std::size_t>(most_));
    for (std::size_t k = 0; k < count; ++k) {
      if (time(order[k]) > Seconds(0)) operator_amounts(order[k]);
    }
  }

  void operator_amounts(std::size_t i) {
    const Operator& op = graph_.ops[i];
    const Demand& d = floors_.ops[i].demand;
    if (d.hbm_read + d.hbm_write > Bytes(0)) {
      all_.push_back({RankedKind::traffic,
                      "half the traffic of " + op.name,
                      {{"op." + op.name + ".bytes", "0.5", true}},
                      {i},
                      true});
    }
    if (d.flops > Flops(0)) {
      all_.push_back({RankedKind::work,
                      "half the work of " + op.name,
                      {{"op." + op.name + ".flops", "0.5", true}},
                      {i},
                      true});
    }
  }

  [[nodiscard]] static std::optional<Precision> narrower(Precision p) {
    const double bits = storage_bits(p);
    if (bits >= 64) return Precision::fp32;
    if (bits >= 32) return Precision::bf16;
    if (bits >= 16) return Precision::fp8_e4m3;
    if (bits >= 8) return Precision::int4;
    return std::nullopt;
  }

  /// The storage of most bytes under `name`.
  [[nodiscard]] std::optional<Precision> storage_under(const char* name) const {
    std::array<double, kPrecisionCount> bytes{};
    for (const TensorId id : tensors_under(graph_, name)) {
      const BoundTensor& tensor = bound_.tensors[index(id)];
      bytes[static_cast<std::size_t>(tensor.dtype)] += tensor.bytes.in_base_units() * tensor.copies;
    }
    const auto most = std::max_element(bytes.begin(), bytes.end());
    if (!(*most > 0)) return std::nullopt;
    return static_cast<Precision>(most - bytes.begin());
  }

  void storage() {
    struct Kind {
      const char* name;
      const char* words;
    };
    const char* matrices = situation_.model ? "layers' matrices" : "weights";
    for (const Kind& kind : {Kind{"weight_dtype", matrices}, Kind{"kv_dtype", "KV cache"},
                             Kind{"activation_dtype", "activations"}}) {
      const auto now = storage_under(kind.name);
      const auto next = now ? narrower(*now) : std::nullopt;
      if (!next || (situation_.model && !applies_to_model(kind.name))) continue;
      Candidate c;
      c.kind = RankedKind::storage;
      c.name = std::string(kind.words) + " stored in " + std::string(name_of(*next));
      c.changes = {{kind.name, std::string(name_of(*next)), false}};
      c.operators = operators_storing(kind.name);
      if (!c.operators.empty()) all_.push_back(std::move(c));
    }
  }

  /// Training has no cache.
  [[nodiscard]] bool applies_to_model(std::string_view name) const {
    return situation_.model->scenario.phase != Phase::train || name != "kv_dtype";
  }

  [[nodiscard]] std::vector<std::size_t> operators_storing(std::string_view name) const {
    std::vector<bool> stored(graph_.tensors.size(), false);
    for (const TensorId id : tensors_under(graph_, name)) stored[index(id)] = true;
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < graph_.ops.size(); ++i) {
      const auto touches = [&](const std::vector<TensorId>& ids) {
        return std::any_of(ids.begin(), ids.end(), [&](TensorId t) { return stored[index(t)]; });
      };
      if (touches(graph_.ops[i].inputs) || touches(graph_.ops[i].outputs)) all.push_back(i);
    }
    return all;
  }

  [[nodiscard]] bool has_tensor_rate(Precision in, Precision accumulate) const {
    return machine_->rates[{Unit::tensor, in, accumulate, false}].known;
  }

  /// Products on the tensor unit instead of the vector unit, and on a narrower format of it. The
  /// storage stays as it is.
  void arithmetic() {
    products(Precision::fp32, Precision::tf32, "products of fp32 on the tensor unit as tf32");
    if (!has_tensor_rate(Precision::tf32, Precision::fp32))
      products(Precision::fp32, Precision::bf16, "products of fp32 on the tensor unit as bf16");
    for (const Precision wide : {Precision::bf16, Precision::fp16}) {
      products(wide, Precision::fp8_e4m3,
               "products of " + std::string(name_of(wide)) + " computed in fp8_e4m3");
    }
  }

  void products(Precision now, Precision then, const std::string& name) {
    if (!has_tensor_rate(then, Precision::fp32)) return;
    Candidate c;
    c.kind = RankedKind::compute;
    c.name = name;
    for (std::size_t i = 0; i < graph_.ops.size(); ++i) {
      const Operator& op = graph_.ops[i];
      const std::vector<const Operator*> all = arithmetic_of(op);
      const bool fits = std::all_of(all.begin(), all.end(), [now](const Operator* one) {
        return info(one->kind).matrix && one->compute == now && one->accumulate == Precision::fp32;
      });
      if (!fits) continue;
      c.changes.push_back({"op." + op.name + ".compute", std::string(name_of(then)), false});
      c.operators.push_back(i);
    }
    if (c.operators.empty()) return;
    const std::vector<std::string> all = precisions_under(graph_, "compute_dtype");
    if (all.size() == 1) {
      c.changes = {{"compute_dtype", std::string(name_of(then)), false}};
    } else if (c.operators.size() > kMostNamed) {
      return;  // each is looked up by its name
    }
    all_.push_back(std::move(c));
  }

  const Situation& situation_;
  const Outcome& before_;
  const OperatorGraph& graph_;
  const GraphFloors& floors_;
  const BoundGraph& bound_;
  const Machine* machine_;
  int most_;
  std::vector<Candidate> all_;
};

}  // namespace

std::vector<Candidate> candidates_for(const Situation& situation, const Outcome& before,
                                      int most_operators) {
  return Candidates(situation, before, most_operators).all();
}

}  // namespace floorline
