// SPDX-License-Identifier: Apache-2.0
#include "model/ledger/liveness_walk.hpp"

#include <algorithm>
#include <span>

namespace floorline {

namespace {

using Instance = LivenessScratch::Instance;

constexpr int kNone = -1;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

bool is_weight(TensorRole role) { return role == TensorRole::weight || role == TensorRole::scale; }

bool trains(OperatorKind kind) {
  return kind == OperatorKind::attention_backward || kind == OperatorKind::norm_backward ||
         kind == OperatorKind::optimizer;
}

class LivenessWalk {
 public:
  LivenessWalk(const BoundGraph& graph, LivenessScratch& scratch) : graph_(graph), s_(scratch) {}

  void run() {
    prepare();
    for (std::size_t i = 0; i < graph_.ops.size();) {
      const int r = graph_.ops[i].repeat;
      if (r == kNone) {
        run_operator(i, kNone, 0);
        ++i;
      } else {
        run_block(r);
        i = at(graph_.repeats[at(r)].first_op + graph_.repeats[at(r)].op_count);
      }
    }
  }

 private:
  [[nodiscard]] std::span<const BoundCarry> carries(const BoundRepeat& repeat) const {
    return {graph_.carries.data() + repeat.first_carry, at(repeat.carry_count)};
  }

  void prepare() {
    s_.instances.clear();
    s_.step_op.clear();
    s_.kept.clear();
    s_.kept_tensors.clear();
    s_.now.assign(graph_.tensors.size(), kNone);
    s_.home.assign(graph_.tensors.size(), kNone);
    s_.first_kept.assign(graph_.tensors.size(), kNone);
    s_.training.assign(graph_.repeats.size(), 0);
    ends_ = longest_chain() - 1 + kEndsOfOneLink;
    for (std::size_t t = 0; t < graph_.tensors.size(); ++t) {
      const int producer = graph_.tensors[t].producer;
      if (producer != kNone) s_.home[t] = graph_.ops[at(producer)].repeat;
    }
    for (const BoundTensor& rows : graph_.tensors) {
      if (rows.rows_of != kNone) s_.home[at(rows.rows_of)] = kNone;  // one for all iterations
    }
    for (std::size_t r = 0; r < graph_.repeats.size(); ++r) {
      for (const BoundCarry& carry : carries(graph_.repeats[r]))
        s_.home[at(carry.read)] = static_cast<int>(r);
    }
    for (const BoundOperator& op : graph_.ops) {
      if (op.repeat != kNone && trains(op.kind)) s_.training[at(op.repeat)] = 1;
    }
    find_kept();
  }

  /// Iterations through which one tensor is handed on, the most over all blocks.
  [[nodiscard]] int longest_chain() const {
    int longest = 0;
    for (const BoundRepeat& repeat : graph_.repeats) {
      for (const BoundCarry& carry : carries(repeat)) {
        int links = 1;
        for (int made = carry.made; links < repeat.carry_count; ++links) {
          const auto all = carries(repeat);
          const auto before = std::find_if(all.begin(), all.end(),
                                           [&](const BoundCarry& c) { return c.read == made; });
          if (before == all.end()) break;
          made = before->made;
        }
        longest = std::max(longest, links);
      }
    }
    return longest;
  }

  [[nodiscard]] std::int64_t times(int block) const {
    return static_cast<std::int64_t>(graph_.repeats[at(block)].times);
  }
  /// Iterations at both ends of a block that differ from those between; of two that swap carried
  /// tensors by turns, as many as keep the parity.
  [[nodiscard]] int walked(int block) const {
    const std::int64_t n = times(block);
    const std::int64_t both_ends = std::int64_t{2} * ends_;
    return static_cast<int>(n <= both_ends ? n : both_ends + (n - both_ends) % 2);
  }
  [[nodiscard]] std::int64_t skipped(int block) const { return times(block) - walked(block); }

  /// Whether a training block reads each iteration's own instance of a tensor.
  [[nodiscard]] bool reads_kept(int block, int tensor) const {
    if (block == kNone || s_.training[at(block)] == 0 || rows_of(tensor) != kNone) return false;
    const int from = home(tensor);
    return from != kNone && from < block && times(from) == times(block) && times(from) > 1;
  }
  void find_kept() {
    for (const BoundOperator& op : graph_.ops) {
      for (const TensorUse& use : graph_.inputs(op)) {
        int& first = s_.first_kept[at(use.tensor)];
        if (first != kNone || !reads_kept(op.repeat, use.tensor)) continue;
        first = static_cast<int>(s_.kept.size());
        s_.kept.resize(s_.kept.size() + at(walked(s_.home[at(use.tensor)])) + 1, kNone);
        s_.kept_tensors.push_back(use.tensor);
      }
    }
    std::sort(s_.kept_tensors.begin(), s_.kept_tensors.end(),
              [&](int a, int b) { return home(a) != home(b) ? home(a) < home(b) : a < b; });
  }
  [[nodiscard]] int home(int tensor) const { return s_.home[at(tensor)]; }
  /// Of one block.
  [[nodiscard]] std::span<const int> kept_of(int block) const {
    const auto all = std::span(s_.kept_tensors);
    const auto first =
        std::partition_point(all.begin(), all.end(), [&](int t) { return home(t) < block; });
    const auto end =
        std::partition_point(first, all.end(), [&](int t) { return home(t) == block; });
    return {first, end};
  }

  int add_instance(int tensor, std::int64_t count) {
    const int step = static_cast<int>(s_.step_op.size());
    s_.instances.push_back({tensor, step, step, count});
    return static_cast<int>(s_.instances.size()) - 1;
  }
  void read(int instance) {
    if (instance == kNone) return;
    Instance& i = s_.instances[at(instance)];
    i.last = std::max(i.last, static_cast<int>(s_.step_op.size()));
  }

  /// Outputs are lines of their own. What a block carries on from one iteration to the next goes
  /// by turns into the output and into one tensor more, as far as it lives no longer than that;
  /// `to_come`: iterations that follow.
  [[nodiscard]] bool is_counted(int tensor, int block, int to_come) const {
    const TensorRole role = graph_.tensors[at(tensor)].role;
    if (role == TensorRole::intermediate || is_weight(role)) return true;
    if (role != TensorRole::output || to_come == 0) return false;
    for (const BoundCarry& carry : carries(graph_.repeats[at(block)])) {
      if (carry.made != tensor) continue;
      const bool kept =
          s_.first_kept[at(tensor)] != kNone || s_.first_kept[at(carry.read)] != kNone;
      return kept || ends_ > kEndsOfOneLink || to_come % 2 == 1;
    }
    return false;
  }

  [[nodiscard]] int rows_of(int tensor) const { return graph_.tensors[at(tensor)].rows_of; }
  /// The whole is there from its first rows on.
  void write_rows(int whole) {
    int& now = s_.now[at(whole)];
    if (now == kNone && graph_.tensors[at(whole)].role == TensorRole::intermediate)
      now = add_instance(whole, 1);
    read(now);
  }

  void run_operator(std::size_t i, int block, int to_come) {
    const BoundOperator& op = graph_.ops[i];
    for (const TensorUse& use : graph_.inputs(op)) {
      // Training blocks go through the iterations of the others backwards.
      const bool kept = reads_kept(block, use.tensor);
      read(kept ? s_.kept[at(s_.first_kept[at(use.tensor)] + to_come)]
                : s_.now[graph_.storage(use.tensor)]);
    }
    for (const TensorUse& use : graph_.outputs(op)) {
      if (use.again) continue;
      if (rows_of(use.tensor) != kNone) {
        write_rows(rows_of(use.tensor));
        continue;
      }
      s_.now[at(use.tensor)] =
          is_counted(use.tensor, block, to_come) ? add_instance(use.tensor, 1) : kNone;
    }
    s_.step_op.push_back(static_cast<int>(i));
  }

  void run_block(int block) {
    const BoundRepeat& repeat = graph_.repeats[at(block)];
    begin_block(repeat);
    const int walk = walked(block);
    const bool training = s_.training[at(block)] != 0;
    const int pause = training ? walk - ends_ : ends_;
    for (int k = 0; k < walk; ++k) {
      if (k > 0) hand_on(repeat);
      if (k == pause && skipped(block) > 0) pass_over(block);
      for (int i = 0; i < repeat.op_count; ++i)
        run_operator(at(repeat.first_op + i), block, walk - 1 - k);
      keep(block, k);
    }
  }

  /// A carried tensor that nobody made before is there when the block begins; after no iteration
  /// what would have been made is what would have been read.
  void begin_block(const BoundRepeat& repeat) {
    for (const BoundCarry& carry : carries(repeat)) {
      int& first = s_.now[at(carry.read)];
      const TensorRole role = graph_.tensors[at(carry.read)].role;
      if (repeat.times > 0) {
        if (first == kNone && role == TensorRole::intermediate) first = add_instance(carry.read, 1);
      } else if (graph_.tensors[at(carry.made)].role == TensorRole::intermediate) {
        s_.now[at(carry.made)] = first;
      }
    }
  }

  void hand_on(const BoundRepeat& repeat) {
    s_.moved.clear();
    for (const BoundCarry& carry : carries(repeat)) s_.moved.push_back(s_.now[at(carry.made)]);
    std::size_t next = 0;
    for (const BoundCarry& carry : carries(repeat)) s_.now[at(carry.read)] = s_.moved[next++];
  }

  /// Remembers an iteration's own instances of what is read again later.
  void keep(int block, int iteration) {
    for (const int t : kept_of(block))
      s_.kept[at(s_.first_kept[at(t)] + iteration)] = s_.now[at(t)];
  }
  [[nodiscard]] int& ballast(int tensor) {
    return s_.kept[at(s_.first_kept[at(tensor)] + walked(home(tensor)))];
  }

  /// What the iterations that are not walked keep is born, and what they read again dies.
  void pass_over(int block) {
    for (const int t : kept_of(block)) {
      if (!is_counted_as_carried(block, t)) ballast(t) = add_instance(t, skipped(block));
    }
    const BoundRepeat& repeat = graph_.repeats[at(block)];
    const int before = static_cast<int>(s_.step_op.size()) - 1;
    for (int i = 0; i < repeat.op_count; ++i) {
      for (const TensorUse& use : graph_.inputs(graph_.ops[at(repeat.first_op + i)])) {
        if (!reads_kept(block, use.tensor) || ballast(use.tensor) == kNone) continue;
        Instance& instance = s_.instances[at(ballast(use.tensor))];
        instance.last = std::max(instance.last, before);
      }
    }
  }
  /// One instance under two names: the next iteration's read of it is kept as well.
  [[nodiscard]] bool is_counted_as_carried(int block, int tensor) const {
    const auto all = carries(graph_.repeats[at(block)]);
    return std::any_of(all.begin(), all.end(), [&](const BoundCarry& carry) {
      return carry.made == tensor && s_.first_kept[at(carry.read)] != kNone;
    });
  }

  const BoundGraph& graph_;
  LivenessScratch& s_;
  static constexpr int kEndsOfOneLink = 3;
  /// Iterations at each end of a block that are not like those between.
  int ends_ = kEndsOfOneLink;
};

}  // namespace

void walk_liveness(const BoundGraph& graph, LivenessScratch& scratch) {
  LivenessWalk(graph, scratch).run();
}

}  // namespace floorline
