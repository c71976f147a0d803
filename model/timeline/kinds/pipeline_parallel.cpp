// SPDX-License-Identifier: Apache-2.0
#include "model/timeline/kinds/pipeline_parallel.hpp"

#include <algorithm>
#include <optional>

#include "model/timeline/kinds/kind_keys.hpp"

namespace floorline {

namespace {

constexpr std::int64_t kMostPasses = 100'000;  ///< 2 x ranks x chunks x micro-batches
constexpr int kMostRankGroups = 32;            ///< more ranks are reported as one

class Builder {
 public:
  explicit Builder(const PipelineParallel& in)
      : in_(in), stages_(in.shape.ranks * in.shape.chunks) {}

  Pipeline pipeline() {
    out_.name = "pipeline parallel";
    const std::vector<std::vector<Pass>> passes = passes_by_rank(in_.shape);
    std::size_t all = 0;
    for (const auto& rank : passes) all += rank.size();
    out_.stages.reserve(2 * all);
    tasks_.resize(all);
    for (int rank = 0; rank < in_.shape.ranks; ++rank) {
      const PoolId pool = out_.add(Pool{.name = "rank " + std::to_string(rank),
                                        .kind = PoolKind::other,
                                        .queue = Queue::in_order});
      std::int64_t order = 0;
      for (const Pass& pass : passes[static_cast<std::size_t>(rank)])
        tasks_[slot(pass)] = add_pass(pass, pool, rank, order++);
    }
    add_links();
    for (const auto& rank : passes) {
      for (const Pass& pass : rank) connect(pass);
    }
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::size_t slot(const Pass& pass) const {
    const auto stage = static_cast<std::size_t>(pass.stage);
    const auto micro = static_cast<std::size_t>(pass.micro_batch);
    const auto per_stage = static_cast<std::size_t>(in_.shape.micro_batches);
    return (stage * per_stage + micro) * 2 + (pass.backward ? 1 : 0);
  }

  StageId add_pass(const Pass& pass, PoolId pool, int rank, std::int64_t order) {
    const auto stage = static_cast<std::size_t>(pass.stage);
    Stage task{.name = std::string(pass.backward ? "backward" : "forward") + " stage " +
                       std::to_string(pass.stage) + " batch " + std::to_string(pass.micro_batch),
               .pool = pool,
               .time = {pass.backward ? in_.backward[stage] : in_.forward[stage], {}}};
    task.sequence = order;
    task.group = in_.shape.ranks <= kMostRankGroups ? "rank " + std::to_string(rank) : "ranks";
    return out_.add(std::move(task));
  }

  /// One a boundary and direction; none where sending is free.
  void add_links() {
    if (!(in_.send > Seconds(0)) || in_.shape.ranks < 2) return;
    for (int rank = 0; rank < in_.shape.ranks; ++rank) {
      const std::string from = "link " + std::to_string(rank);
      down_.push_back(out_.add(Pool{.name = from + " down", .kind = PoolKind::link}));
      up_.push_back(out_.add(Pool{.name = from + " up", .kind = PoolKind::link}));
    }
  }

  void connect(const Pass& pass) {
    const StageId task = tasks_[slot(pass)];
    if (pass.backward) need(task, {pass.stage, pass.micro_batch, false}, false);
    const int source = pass.stage + (pass.backward ? 1 : -1);
    if (source < 0 || source >= stages_) return;
    need(task, {source, pass.micro_batch, pass.backward}, !down_.empty());
  }

  void need(StageId task, const Pass& source, bool sent) {
    StageId from = tasks_[slot(source)];
    if (sent) {
      const auto rank = static_cast<std::size_t>(source.stage % in_.shape.ranks);
      from = out_.add(Stage{.name = "send of " + out_.stages[index_of(from)].name,
                            .pool = source.backward ? up_[rank] : down_[rank],
                            .time = {in_.send, {}},
                            .after = {{from}},
                            .group = "send"});
    }
    out_.stages[index_of(task)].after.push_back({from});
  }

  const PipelineParallel& in_;
  int stages_;
  Pipeline out_;
  std::vector<StageId> tasks_;
  std::vector<PoolId> down_, up_;
};

Seconds step_time_of(const PipelineParallel& in) {
  ScheduleOptions options;
  options.record = false;
  return make_schedule(Builder(in).pipeline(), options).makespan();
}

Seconds busy_time(const PipelineParallel& in) {
  Seconds sum{0};
  for (std::size_t s = 0; s < in.forward.size(); ++s) sum += in.forward[s] + in.backward[s];
  return static_cast<double>(in.shape.micro_batches) * sum;
}

/// The same model with one stage a rank: what `chunks` cuts is joined again.
PipelineParallel unchunked(const PipelineParallel& in, MicroBatchOrder order) {
  PipelineParallel out = in;
  const auto ranks = static_cast<std::size_t>(in.shape.ranks);
  out.shape.order = order;
  out.shape.chunks = 1;
  out.forward.assign(ranks, Seconds(0));
  out.backward.assign(ranks, Seconds(0));
  for (std::size_t s = 0; s < in.forward.size(); ++s) {
    out.forward[s % ranks] += in.forward[s];
    out.backward[s % ranks] += in.backward[s];
  }
  return out;
}

bool equal_stages(const PipelineParallel& in) {
  const auto same = [](const std::vector<Seconds>& times) {
    return std::all_of(times.begin(), times.end(), [&](Seconds t) { return t == times[0]; });
  };
  return same(in.forward) && same(in.backward);
}

std::vector<Fact> facts_of(const PipelineParallel& in, const Schedule& schedule) {
  const Seconds step = schedule.makespan();
  if (!(step > Seconds(0))) return {};
  const Seconds ideal = busy_time(in) / static_cast<double>(in.shape.ranks);
  std::vector<Fact> facts{time_fact("ideal_step_s", "step without a bubble", ideal),
                          share_fact("bubble_share", "bubble share of the step", 1 - ideal / step)};
  if (equal_stages(in) && !(in.send > Seconds(0))) {
    facts.push_back(share_fact("textbook_bubble_share", "as the textbook has it",
                               textbook_bubble_share(in.shape)));
  }
  if (in.shape.order != MicroBatchOrder::interleaved) return facts;
  const Seconds plain = step_time_of(unchunked(in, MicroBatchOrder::one_f_one_b));
  facts.push_back(time_fact("one_f_one_b_step_s", "1f1b, the same layers a rank", plain));
  facts.push_back(factor_fact("speedup_over_1f1b", "interleaving buys", plain / step));
  return facts;
}

/// One time for all, one a rank (split evenly over its chunks) or one a global stage.
std::vector<Seconds> stage_times(TableReader& table, const char* key, const PipelineShape& shape) {
  const auto ranks = static_cast<std::size_t>(shape.ranks);
  const auto chunks = static_cast<std::size_t>(shape.chunks);
  const std::string expected = "a time of one rank, a list of " + std::to_string(ranks) +
                               " (by rank) or of " + std::to_string(ranks * chunks) + " (by stage)";
  std::vector<Seconds> all(ranks * chunks, Seconds(0));
  const Node* node = table.required_node(key, expected);
  if (node == nullptr) return all;
  if (node->kind != Node::Kind::array) {
    const Seconds one = table.quantity<Seconds>(key).value_or(Seconds(0));
    std::fill(all.begin(), all.end(), one / static_cast<double>(chunks));
    return all;
  }
  const std::vector<std::string> texts = table.texts(key).value_or(std::vector<std::string>{});
  if (texts.size() != ranks && texts.size() != ranks * chunks) {
    table.error(key, "has " + std::to_string(texts.size()) + " times; expected " + expected);
    return all;
  }
  const bool by_rank = texts.size() == ranks;
  for (std::size_t s = 0; s < all.size(); ++s) {
    const auto time = quantity_from<Seconds>(texts[by_rank ? s % ranks : s]);
    if (const auto* why = std::get_if<std::string>(&time)) {
      table.error(key, *why);
      break;
    }
    all[s] = std::get<Seconds>(time) / (by_rank ? static_cast<double>(chunks) : 1);
  }
  return all;
}

PipelineShape read_shape(TableReader& table) {
  PipelineShape shape;
  shape.order =
      static_cast<MicroBatchOrder>(word_key(table, "schedule", {"gpipe", "1f1b", "interleaved"}));
  table.required_node("schedule", "\"gpipe\", \"1f1b\" or \"interleaved\"");
  const bool interleaved = shape.order == MicroBatchOrder::interleaved;
  const std::int64_t ranks = required_count(table, "ranks", 1, kMostPasses);
  const std::int64_t micro = required_count(table, "micro_batches", 1, kMostPasses);
  const std::int64_t chunks = count_key(table, "chunks", {1, kMostPasses, interleaved ? 2 : 1});
  if (!interleaved && chunks != 1)
    table.error("chunks", "belongs to schedule = \"interleaved\"; expected 1 here");
  if (interleaved && micro % ranks != 0) {
    table.error("micro_batches", "is " + std::to_string(micro) +
                                     "; interleaved needs a multiple of the " +
                                     std::to_string(ranks) + " ranks");
    return shape;
  }
  const double passes =
      2.0 * static_cast<double>(ranks) * static_cast<double>(chunks) * static_cast<double>(micro);
  if (passes > static_cast<double>(kMostPasses)) {
    table.error("micro_batches", "2 x ranks x chunks x micro_batches is " +
                                     std::to_string(static_cast<std::int64_t>(passes)) +
                                     " passes; expected at most " + std::to_string(kMostPasses));
    return shape;
  }
  shape.ranks = static_cast<int>(ranks);
  shape.micro_batches = static_cast<int>(micro);
  shape.chunks = static_cast<int>(chunks);
  return shape;
}

}  // namespace

double textbook_bubble_share(const PipelineShape& shape) {
  const double waits = shape.ranks - 1;
  return waits / (static_cast<double>(shape.chunks) * shape.micro_batches + waits);
}

PipelineParallel read_pipeline_parallel(TableReader& table, std::vector<std::string>& assumptions) {
  PipelineParallel in;
  in.shape = read_shape(table);
  in.forward = stage_times(table, "forward_time", in.shape);
  in.backward = stage_times(table, "backward_time", in.shape);
  in.send =
      time_or_zero(table, "send_time", "activations reach the next rank in no time", assumptions);
  return in;
}

BuiltKind build(const PipelineParallel& in) {
  BuiltKind kind;
  kind.kind = "pipeline_parallel";
  kind.pipeline = Builder(in).pipeline();
  const std::vector<int> held = held_activations(passes_by_rank(in.shape));
  const int most = *std::max_element(held.begin(), held.end());
  kind.facts = {number_fact("held_micro_batches", "activations held, the worst rank",
                            static_cast<double>(most) / in.shape.chunks, "micro-batches")};
  kind.after = [in](const Pipeline&, const Schedule& schedule) { return facts_of(in, schedule); };
  return kind;
}

}  // namespace floorline
