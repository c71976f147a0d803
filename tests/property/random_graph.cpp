// SPDX-License-Identifier: Apache-2.0
#include "tests/property/random_graph.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace floorline::testing {

namespace {

class Maker {
 public:
  Maker(Dice& dice, int most_times) : dice_(dice), most_times_(most_times) {}

  OperatorGraph make(bool repeats) {
    for (int i = 0; i < 3; ++i) readable_.push_back(outside(TensorRole::input));
    const int parts = dice_.whole(1, 4);
    for (int part = 0; part < parts; ++part) {
      if (repeats && dice_.chance(60)) {
        block();
      } else {
        operators(dice_.whole(1, 4));
      }
    }
    return std::move(graph_);
  }

 private:
  TensorId outside(TensorRole role) {
    return add_tensor(graph_, "t" + std::to_string(graph_.tensors.size()),
                      dice_.whole(1, 3'000'000), role);
  }
  TensorId any_readable() {
    return readable_[static_cast<std::size_t>(
        dice_.whole(0, static_cast<int>(readable_.size()) - 1))];
  }

  OperatorId one_operator() {
    Operator op = random_operator(dice_, "op" + std::to_string(graph_.ops.size()));
    const bool copy = op.kind == OperatorKind::copy;
    const int inputs = copy ? 1 : dice_.whole(1, 3);
    for (int i = 0; i < inputs; ++i) op.inputs.push_back(any_readable());
    if (!copy && dice_.chance(30)) op.inputs.push_back(outside(TensorRole::weight));
    const int outputs = copy ? 1 : dice_.whole(1, 2);
    for (int i = 0; i < outputs; ++i) {
      const TensorId made =
          outside(dice_.chance(25) ? TensorRole::output : TensorRole::intermediate);
      op.outputs.push_back(made);
      made_.push_back(made);
    }
    readable_.insert(readable_.end(), op.outputs.begin(), op.outputs.end());
    graph_.ops.push_back(std::move(op));
    return static_cast<OperatorId>(graph_.ops.size() - 1);
  }
  std::vector<OperatorId> operators(int count) {
    std::vector<OperatorId> ids;
    for (int i = 0; i < count; ++i) ids.push_back(one_operator());
    return ids;
  }

  /// Carries some of what it makes to tensors that were readable before it.
  void block() {
    std::vector<TensorId> before = readable_;
    made_.clear();
    Repeat repeat;
    repeat.name = "block" + std::to_string(graph_.repeats.size());
    repeat.ops = operators(dice_.whole(1, 4));
    repeat.times = Expression(static_cast<double>(dice_.whole(0, most_times_)));
    for (int i = dice_.whole(0, 3); i > 0 && !before.empty() && !made_.empty(); --i) {
      const TensorId read = take(before);
      const TensorId made = take(made_);
      graph_.tensors[index(made)].shape = graph_.tensors[index(read)].shape;
      repeat.carry.emplace_back(made, read);
    }
    graph_.repeats.push_back(std::move(repeat));
  }

  TensorId take(std::vector<TensorId>& from) {
    const int at = dice_.whole(0, static_cast<int>(from.size()) - 1);
    const TensorId id = from[static_cast<std::size_t>(at)];
    from.erase(from.begin() + at);
    return id;
  }

  Dice& dice_;
  int most_times_;
  OperatorGraph graph_;
  std::vector<TensorId> readable_;
  std::vector<TensorId> made_;
};

class Unroller {
 public:
  explicit Unroller(const OperatorGraph& graph) : from_(graph) {}

  OperatorGraph unroll() {
    for (std::size_t t = 0; t < from_.tensors.size(); ++t) now_.push_back(instance(t));
    for (std::size_t i = 0; i < from_.ops.size();) {
      const Repeat* repeat = block_at(i);
      if (repeat == nullptr) {
        add(from_.ops[i]);
        ++i;
        continue;
      }
      const auto times = static_cast<int>(repeat->times.evaluate({}));
      for (int k = 0; k < times; ++k) iteration(*repeat, k > 0);
      if (times == 0) pass_through(*repeat);
      i += repeat->ops.size();
    }
    return std::move(to_);
  }

 private:
  TensorId instance(std::size_t t) {
    Tensor copy = from_.tensors[t];
    copy.name += "." + std::to_string(to_.tensors.size());
    to_.tensors.push_back(std::move(copy));
    return static_cast<TensorId>(to_.tensors.size() - 1);
  }
  const Repeat* block_at(std::size_t op) const {
    for (const Repeat& repeat : from_.repeats) {
      if (index(repeat.ops.front()) == op) return &repeat;
    }
    return nullptr;
  }
  void iteration(const Repeat& repeat, bool again) {
    if (again) {
      std::vector<std::pair<TensorId, TensorId>> next;  // all at once: carries may cross
      for (const auto& [made, read] : repeat.carry) next.emplace_back(read, now_[index(made)]);
      for (const auto& [read, instance_id] : next) now_[index(read)] = instance_id;
    }
    for (const OperatorId id : repeat.ops) {
      for (const TensorId in : from_.ops[index(id)].inputs) {
        if (again && from_.tensors[index(in)].role == TensorRole::weight) {
          now_[index(in)] = instance(index(in));
        }
      }
      if (again) {
        for (const TensorId out : from_.ops[index(id)].outputs)
          now_[index(out)] = instance(index(out));
      }
      add(from_.ops[index(id)]);
    }
  }
  /// No iteration: what would be made is what would have been read, after no time.
  void pass_through(const Repeat& repeat) {
    for (const auto& [made, read] : repeat.carry) {
      Operator same;
      same.name = "same";
      same.compute = Precision::bf16;
      same.accumulate = Precision::fp32;
      same.stated_traffic = Expression(0);
      same.inputs = {read};
      same.outputs = {made};
      add(same);
    }
  }
  void add(const Operator& op) {
    Operator copy = op;
    copy.name += "." + std::to_string(to_.ops.size());
    for (TensorId& in : copy.inputs) in = now_[index(in)];
    for (TensorId& out : copy.outputs) out = now_[index(out)];
    to_.ops.push_back(std::move(copy));
  }

  const OperatorGraph& from_;
  OperatorGraph to_;
  std::vector<TensorId> now_;  ///< the instance that a name stands for at this moment
};

}  // namespace

OperatorGraph random_graph(Dice& dice, bool repeats, int most_times) {
  return Maker(dice, most_times).make(repeats);
}

OperatorGraph unrolled(const OperatorGraph& graph) { return Unroller(graph).unroll(); }

}  // namespace floorline::testing
