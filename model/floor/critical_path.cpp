// SPDX-License-Identifier: Apache-2.0
#include "model/floor/critical_path.hpp"

#include <algorithm>
#include <limits>
#include <span>

namespace floorline {

namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

class PathFinder {
 public:
  PathFinder(const BoundGraph& graph, GraphFloors& floors, PathTime which)
      : graph_(graph), floors_(floors), which_(which) {}

  double longest() {
    std::fill(floors_.ready.begin(), floors_.ready.end(), 0.0);
    for (std::size_t i = 0; i < graph_.ops.size();) {
      const int r = graph_.ops[i].repeat;
      if (r < 0) {
        run_operator(i, floors_.ready);
        ++i;
      } else {
        const BoundRepeat& repeat = graph_.repeats[static_cast<std::size_t>(r)];
        run_repeat(repeat);
        i = static_cast<std::size_t>(repeat.first_op + repeat.op_count);
      }
    }
    return end_;
  }

 private:
  [[nodiscard]] double duration(std::size_t op) const {
    const OperatorFloors& f = floors_.ops[op];
    return (which_ == PathTime::cold ? f.cold.time() : f.any_overlapped).in_base_units();
  }

  double run_operator(std::size_t i, std::vector<double>& ready) const {
    const BoundOperator& op = graph_.ops[i];
    double start = op.input_count == 0 ? without_inputs_ : kNever;
    for (const TensorUse& use : graph_.inputs(op)) {
      start = std::max(start, ready[graph_.storage(use.tensor)]);
    }
    const double end = start + duration(i);
    for (const TensorUse& use : graph_.outputs(op)) {
      const std::size_t lies = graph_.storage(use.tensor);
      const bool rows = lies != static_cast<std::size_t>(use.tensor);
      ready[lies] = rows ? std::max(ready[lies], end) : end;
    }
    return end;
  }
  void run_operator(std::size_t i, std::vector<double>& ready) {
    end_ = std::max(end_, static_cast<const PathFinder*>(this)->run_operator(i, ready));
  }

  [[nodiscard]] std::span<const BoundCarry> carries(const BoundRepeat& repeat) const {
    return {graph_.carries.data() + repeat.first_carry,
            static_cast<std::size_t>(repeat.carry_count)};
  }

  double run_block(const BoundRepeat& repeat, std::vector<double>& ready) const {
    double end = kNever;
    for (int k = 0; k < repeat.op_count; ++k) {
      end = std::max(end, run_operator(static_cast<std::size_t>(repeat.first_op + k), ready));
    }
    return end;
  }

  /// Column `source` of A: when each carried tensor is made if only that source is ready at 0. Two
  /// more: all that is ready from outside, at the times it is, and the latest end so far.
  void fill_column(const BoundRepeat& repeat, std::size_t source, std::span<double> a) {
    const auto carried = carries(repeat);
    const std::size_t side = carried.size() + 2;
    std::vector<double>& work = floors_.work;
    const bool outside = source == carried.size();
    for (std::size_t t = 0; t < work.size(); ++t) work[t] = outside ? floors_.ready[t] : kNever;
    for (std::size_t j = 0; j < carried.size(); ++j) {
      work[static_cast<std::size_t>(carried[j].read)] = j == source ? 0 : kNever;
    }
    without_inputs_ = outside ? 0 : kNever;
    const double end = run_block(repeat, work);
    without_inputs_ = 0;
    for (std::size_t i = 0; i < carried.size(); ++i) {
      a[i * side + source] = work[static_cast<std::size_t>(carried[i].made)];
    }
    a[carried.size() * side + source] = outside ? 0 : kNever;
    a[(carried.size() + 1) * side + source] = end;
  }

  /// The latest end so far depends on nothing but itself, and nothing else on it.
  static void fill_end_column(std::span<double> a, std::size_t side) {
    for (std::size_t i = 0; i < side; ++i) a[i * side + side - 1] = i + 1 == side ? 0 : kNever;
  }

  static void multiply(std::span<const double> a, std::span<const double> b, std::span<double> out,
                       std::size_t side) {
    for (std::size_t i = 0; i < side; ++i) {
      for (std::size_t j = 0; j < side; ++j) {
        double best = kNever;
        for (std::size_t k = 0; k < side; ++k)
          best = std::max(best, a[i * side + k] + b[k * side + j]);
        out[i * side + j] = best;
      }
    }
  }

  /// x ← Aⁿ ⊗ x. Destroys a.
  static void power_apply(std::span<double> a, std::span<double> scratch, std::span<double> x,
                          std::span<double> y, double n) {
    const std::size_t side = x.size();
    for (double left = n; left >= 1;) {
      const double half = static_cast<double>(static_cast<long long>(left / 2));
      if (left - 2 * half >= 1) {
        for (std::size_t i = 0; i < side; ++i) {
          y[i] = kNever;
          for (std::size_t k = 0; k < side; ++k) y[i] = std::max(y[i], a[i * side + k] + x[k]);
        }
        std::copy(y.begin(), y.end(), x.begin());
      }
      left = half;
      if (left < 1) break;
      multiply(a, a, scratch, side);
      std::copy(scratch.begin(), scratch.end(), a.begin());
    }
  }

  /// The last iteration is run; those before it go through the matrix.
  void run_repeat(const BoundRepeat& repeat) {
    if (repeat.times < 1 || repeat.op_count == 0) {
      for (const BoundCarry& c : carries(repeat)) {
        floors_.ready[static_cast<std::size_t>(c.made)] =
            floors_.ready[static_cast<std::size_t>(c.read)];
      }
      return;
    }
    const auto carried = carries(repeat);
    const std::size_t side = carried.size() + 2;
    const std::span<double> all(floors_.matrix);
    const auto a = all.subspan(0, side * side);
    const auto scratch = all.subspan(side * side, side * side);
    const auto x = all.subspan(2 * side * side, side);
    const auto y = all.subspan(2 * side * side + side, side);
    for (std::size_t source = 0; source + 1 < side; ++source) fill_column(repeat, source, a);
    fill_end_column(a, side);
    for (std::size_t j = 0; j < carried.size(); ++j) {
      x[j] = floors_.ready[static_cast<std::size_t>(carried[j].read)];
    }
    x[carried.size()] = 0;
    x[carried.size() + 1] = end_;
    power_apply(a, scratch, x, y, repeat.times - 1);
    end_ = x[carried.size() + 1];
    for (std::size_t j = 0; j < carried.size(); ++j) {
      floors_.ready[static_cast<std::size_t>(carried[j].read)] = x[j];
    }
    end_ = std::max(end_, run_block(repeat, floors_.ready));
  }

  const BoundGraph& graph_;
  GraphFloors& floors_;
  PathTime which_;
  double end_ = 0;
  double without_inputs_ = 0;  ///< when operators that read nothing may start
};

bool reads_from(const BoundGraph& graph, const BoundOperator& op, int maker) {
  const auto uses = graph.inputs(op);
  return std::any_of(uses.begin(), uses.end(), [&](const TensorUse& use) {
    return graph.tensors[static_cast<std::size_t>(use.tensor)].producer == maker;
  });
}

/// The block's first operator reads what its last one made an iteration before.
bool iterations_chain(const BoundGraph& graph, const BoundRepeat& repeat) {
  const BoundOperator& first = graph.ops[static_cast<std::size_t>(repeat.first_op)];
  for (int c = repeat.first_carry; c < repeat.first_carry + repeat.carry_count; ++c) {
    const BoundCarry& carry = graph.carries[static_cast<std::size_t>(c)];
    const int maker = graph.tensors[static_cast<std::size_t>(carry.made)].producer;
    if (maker != repeat.first_op + repeat.op_count - 1) continue;
    const auto uses = graph.inputs(first);
    if (std::any_of(uses.begin(), uses.end(),
                    [&](const TensorUse& use) { return use.tensor == carry.read; }))
      return true;
  }
  return false;
}

/// Without blocks that never run.
bool runs_as_chain(const BoundGraph& graph, const GraphFloors& floors) {
  return floors.chain && std::none_of(graph.repeats.begin(), graph.repeats.end(),
                                      [](const BoundRepeat& r) { return r.times < 1; });
}

}  // namespace

bool is_chain(const BoundGraph& graph) {
  for (std::size_t i = 1; i < graph.ops.size(); ++i) {
    if (!reads_from(graph, graph.ops[i], static_cast<int>(i) - 1)) return false;
  }
  return std::all_of(graph.repeats.begin(), graph.repeats.end(), [&](const BoundRepeat& r) {
    return r.op_count == 0 || iterations_chain(graph, r);
  });
}

Seconds longest_path(const BoundGraph& graph, GraphFloors& floors, PathTime which) {
  if (runs_as_chain(graph, floors)) {
    Seconds sum(0);
    for (const OperatorFloors& op : floors.ops) {
      sum += (which == PathTime::cold ? op.cold.time() : op.any_overlapped) * op.times;
    }
    return sum;
  }
  return Seconds(PathFinder(graph, floors, which).longest());
}

}  // namespace floorline
