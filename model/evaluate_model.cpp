// SPDX-License-Identifier: Apache-2.0
#include "model/evaluate_model.hpp"

#include <algorithm>

#include "model/ledger/liveness.hpp"
#include "model/quantity/expect.hpp"
#include "model/rewrite/graph_assignment.hpp"
#include "model/workload/model_graph.hpp"

namespace floorline {

namespace {

struct Stage {
  double count = 1;
  std::int64_t number = 0;
  Evaluation evaluation;
};

/// All stages of one step, evaluated.
class Step {
 public:
  Step(const ModelWorkload& workload, const Scenario& scenario, const Machine& machine)
      : machine_(machine), ranks_(static_cast<double>(workload.layout.stage_ranks())) {
    for (const DistinctStage& s : distinct_stages(workload.architecture, workload.layout)) {
      stages_.push_back({static_cast<double>(s.count), s.stage,
                         evaluate(stage_graph(workload, scenario, s.stage), machine)});
    }
    FLOORLINE_EXPECT(!stages_.empty());
  }

  /// The same step with another number of cached tokens.
  void set_context(double context) {
    for (Stage& stage : stages_) {
      stage.evaluation.graph.set_symbol("context", context);
      const bool fine =
          reevaluate(machine_, stage.evaluation.graph.symbol_values, stage.evaluation);
      FLOORLINE_EXPECT(fine);
    }
  }
  [[nodiscard]] Seconds through_all() const { return latency().any; }
  [[nodiscard]] ResidencyTimes latency() const {
    ResidencyTimes sum;
    for (const Stage& s : stages_) {
      sum.cold += s.evaluation.floors.fused.cold * s.count;
      sum.any += s.evaluation.floors.fused.any * s.count;
    }
    return sum;
  }
  /// Sums over the stages, as a token passes them.
  [[nodiscard]] WholeTimes whole() const {
    WholeTimes sum;
    for (const Stage& s : stages_) {
      const GraphFloors& f = s.evaluation.floors;
      sum += {{f.serial.cold * s.count, f.serial.any * s.count},
              {f.critical_path.cold * s.count, f.critical_path.any * s.count},
              {f.fused.cold * s.count, f.fused.any * s.count}};
    }
    return sum;
  }
  [[nodiscard]] WholeTimes slowest_whole() const {
    const GraphFloors& f = slowest().evaluation.floors;
    return {f.serial, f.critical_path, f.fused};
  }
  [[nodiscard]] ResidencyTimes slowest_times() const {
    ResidencyTimes most;
    for (const Stage& s : stages_) {
      most.cold = std::max(most.cold, s.evaluation.floors.fused.cold);
      most.any = std::max(most.any, s.evaluation.floors.fused.any);
    }
    return most;
  }
  [[nodiscard]] Seconds proven_through_all() const {
    Seconds sum(0);
    for (const Stage& s : stages_) sum += s.evaluation.floors.fused_proven * s.count;
    return sum;
  }
  [[nodiscard]] Seconds slowest_proven() const {
    Seconds most(0);
    for (const Stage& s : stages_) most = std::max(most, s.evaluation.floors.fused_proven);
    return most;
  }
  [[nodiscard]] Seconds serial_through_all() const {
    Seconds sum(0);
    for (const Stage& s : stages_) sum += s.evaluation.floors.serial.cold * s.count;
    return sum;
  }
  [[nodiscard]] Seconds slowest_serial() const {
    Seconds most(0);
    for (const Stage& s : stages_) most = std::max(most, s.evaluation.floors.serial.cold);
    return most;
  }
  /// HBM bytes of all ranks of a replica.
  [[nodiscard]] Bytes traffic() const {
    Bytes sum(0);
    for (const Stage& s : stages_) {
      sum +=
          (s.evaluation.floors.sum.hbm_read + s.evaluation.floors.sum.hbm_write) * s.count * ranks_;
    }
    return sum;
  }
  [[nodiscard]] const Stage& slowest() const {
    return *std::max_element(stages_.begin(), stages_.end(), [](const Stage& a, const Stage& b) {
      return a.evaluation.floors.fused.any < b.evaluation.floors.fused.any;
    });
  }
  [[nodiscard]] Seconds slowest_time() const { return slowest().evaluation.floors.fused.any; }
  [[nodiscard]] Flops work() const {
    Flops sum(0);
    for (const Stage& s : stages_) sum += s.evaluation.floors.sum.flops * s.count * ranks_;
    return sum;
  }
  /// Of products and attention, all ranks of a replica.
  [[nodiscard]] Flops matrix_work() const {
    return sum_of([](const Operator& op, const OperatorFloors& f) {
      return info(op.kind).matrix ? f.demand.flops : Flops(0);
    });
  }
  /// Q·Kᵀ once more where attention goes backward.
  [[nodiscard]] Flops score_work() const {
    return sum_of([](const Operator& op, const OperatorFloors& f) {
      if (op.kind != OperatorKind::attention_backward) return Flops(0);
      double head_dim = 0;
      double v_dim = 0;
      for (const Attribute& a : op.attributes) {
        if (a.key == Key::head_dim) head_dim = a.value.constant().value_or(0);
        if (a.key == Key::v_dim) v_dim = a.value.constant().value_or(0);
      }
      if (v_dim == 0) v_dim = head_dim;
      return head_dim > 0 ? f.demand.flops * (head_dim / (2 * (head_dim + v_dim))) : Flops(0);
    });
  }
  Stage take_slowest() { return slowest(); }

 private:
  template <class WorkOf>
  [[nodiscard]] Flops sum_of(WorkOf work_of) const {
    Flops sum(0);
    for (const Stage& s : stages_) {
      const Evaluation& e = s.evaluation;
      for (std::size_t i = 0; i < e.graph.ops.size(); ++i) {
        const OperatorFloors& f = e.floors.ops[i];
        sum += work_of(e.graph.ops[i], f) * f.times * s.count * ranks_;
      }
    }
    return sum;
  }

  const Machine& machine_;
  double ranks_;  ///< of one stage of one replica
  std::vector<Stage> stages_;
};

double tokens_of(const Scenario& scenario) {
  return static_cast<double>(scenario.sequences() * scenario.new_tokens());
}

/// What the token ceiling takes for granted.
std::string pipeline_note(const ModelWorkload& workload) {
  const std::string stages = std::to_string(workload.layout.pp);
  if (workload.scenario.phase == Phase::train) {
    return "passes follow one another through the " + stages +
           " stages: a step is at least the slowest stage's work, without its waiting at both ends";
  }
  return "tokens a second, at most, assume " + stages +
         " batches in flight, one in every pipeline stage; batch is the sequences of one of them, "
         "and memory holds the cache of one";
}

void show(Step& step, const ModelWorkload& workload, ModelEvaluation& result) {
  Stage stage = step.take_slowest();
  result.floors.resident = resident_bytes(stage.evaluation.bound);
  if (workload.layout.pp > 1) {
    result.notes.push_back("operators shown: pipeline stage " + std::to_string(stage.number + 1) +
                           " of " + std::to_string(workload.layout.pp) + ", the slowest");
    result.notes.push_back(pipeline_note(workload));
  }
  result.shown = std::move(stage.evaluation);
}

}  // namespace

WholeTimes& WholeTimes::operator+=(const WholeTimes& other) {
  const auto add = [](ResidencyTimes& sum, const ResidencyTimes& times) {
    sum.cold += times.cold;
    sum.any += times.any;
  };
  add(serial, other.serial);
  add(critical_path, other.critical_path);
  add(fused, other.fused);
  return *this;
}

namespace {

/// Adds one step to what a measured time is judged against.
void add_judging(const Step& step, const ParallelLayout& layout, ModelJudging& judging) {
  const auto add = [](ResidencyTimes& sum, const ResidencyTimes& times) {
    sum.cold += times.cold;
    sum.any += times.any;
  };
  const double ranks = static_cast<double>(layout.stage_ranks() * layout.pp);
  add(judging.latency, step.latency());
  judging.whole += step.whole();
  add(judging.throughput, step.slowest_times());
  judging.latency_proven += step.proven_through_all();
  judging.throughput_proven += step.slowest_proven();
  judging.latency_serial += step.serial_through_all();
  judging.throughput_serial += step.slowest_serial();
  judging.work_per_rank += step.work() / ranks;
  judging.traffic_per_rank += step.traffic() / ranks;
}

void one_step(const ModelWorkload& workload, const Machine& machine, ModelEvaluation& result) {
  const Scenario& scenario = workload.scenario;
  Step step(workload, scenario, machine);
  ModelFloors& f = result.floors;
  f.step = step.through_all();
  f.tokens_per_step = tokens_of(scenario);
  const double dp = static_cast<double>(workload.layout.dp);
  add_judging(step, workload.layout, f.judging);
  f.judging.tokens = dp * f.tokens_per_step;
  f.tokens_per_s_ceiling = token_ceiling(dp, f.tokens_per_step, step.slowest_time());
  if (f.tokens_per_step > 0) f.work_per_token = step.work() / f.tokens_per_step;
  if (scenario.phase == Phase::prefill) {
    f.ttft = f.step;
  } else {
    f.tpot = f.step / static_cast<double>(scenario.tokens_per_step);
  }
  show(step, workload, result);
}

/// One prefill and `output` decode steps; the growing context is summed step by step. The prefill
/// makes the first token, so a sequence has one token more than its decode steps make.
void generate(const ModelWorkload& workload, const Machine& machine, ModelEvaluation& result) {
  const GenerateParts parts = generate_parts(workload.scenario);
  Step prefill(workload, parts.prefill, machine);
  Step decode(workload, parts.decode, machine);
  ModelFloors& f = result.floors;
  add_judging(prefill, workload.layout, f.judging);
  Seconds decode_sum(0);
  Seconds slowest_sum = prefill.slowest_time();
  Flops work = prefill.work();
  const double per_step = static_cast<double>(parts.decode.tokens_per_step);
  const double first = static_cast<double>(parts.decode.cached());
  for (std::int64_t i = 0; i < parts.steps; ++i) {
    decode.set_context(first + static_cast<double>(i) * per_step);
    decode_sum += decode.through_all();
    slowest_sum += decode.slowest_time();
    work += decode.work();
    add_judging(decode, workload.layout, f.judging);
  }
  const double steps = static_cast<double>(parts.steps);
  f.step = decode.through_all();
  f.ttft = prefill.through_all();
  if (steps > 0) f.tpot = decode_sum / (steps * per_step);
  f.request = *f.ttft + decode_sum;
  f.tokens_per_step = tokens_of(parts.decode);
  const double sequences = static_cast<double>(parts.decode.sequences());
  const double made = sequences * (steps * per_step + 1);
  f.judging.tokens = static_cast<double>(workload.layout.dp) * made;
  if (slowest_sum > Seconds(0)) {
    f.tokens_per_s_ceiling =
        static_cast<double>(workload.layout.dp) * made / slowest_sum.in_base_units();
  }
  const double processed = tokens_of(parts.prefill) + sequences * steps * per_step;
  if (processed > 0) f.work_per_token = work / processed;
  show(decode, workload, result);
  result.notes.push_back("operators shown: the last of " + std::to_string(parts.steps) +
                         " decode steps");
}

/// Stages work at the same time on different passes: a step takes at least the slowest one's work.
void train(const ModelWorkload& workload, const Machine& machine, ModelEvaluation& result) {
  const Scenario& scenario = workload.scenario;
  ModelWorkload plain = workload;
  plain.scenario.training.recompute = Recompute::none;
  Step step(workload, scenario, machine);
  ModelFloors& f = result.floors;
  add_judging(step, workload.layout, f.judging);
  f.judging.latency = f.judging.throughput;
  f.judging.whole = step.slowest_whole();
  f.judging.latency_serial = f.judging.throughput_serial;
  f.judging.latency_proven = f.judging.throughput_proven;
  f.step = step.slowest_time();
  f.tokens_per_step = tokens_of(scenario);
  const double dp = static_cast<double>(workload.layout.dp);
  const double ranks = static_cast<double>(workload.layout.stage_ranks() * workload.layout.pp);
  f.judging.tokens = dp * f.tokens_per_step;
  if (f.step > Seconds(0)) {
    f.tokens_per_s_ceiling = dp * f.tokens_per_step / f.step.in_base_units();
  }
  const bool again = scenario.training.recompute != Recompute::none;
  const Flops model =
      again ? Step(plain, plain.scenario, machine).matrix_work() : step.matrix_work();
  const double tokens = f.tokens_per_step;
  f.training = TrainingWork{model / tokens, step.matrix_work() / tokens, step.score_work() / tokens,
                            conventional_flops_per_token(workload.architecture, scenario.training)};
  f.judging.work_per_rank = model / ranks;
  f.work_per_token = step.work() / tokens;
  show(step, workload, result);
}

}  // namespace

OperatorGraph stage_graph(const ModelWorkload& workload, const Scenario& scenario,
                          std::int64_t stage) {
  OperatorGraph graph = model_graph(workload.architecture, scenario, workload.layout, stage);
  for (const Assignment& a : workload.graph_settings) {
    // An operator of another stage is not an error; one of no stage is.
    if (workload.layout.pp > 1 && !is_part_of(graph, a.name)) continue;
    assign(graph, a);
  }
  return graph;
}

double token_ceiling(double replicas, double tokens_of_one, Seconds slowest_stage) {
  if (!(slowest_stage > Seconds(0))) return 0;
  return replicas * tokens_of_one / slowest_stage.in_base_units();
}

Bytes cache_per_token(const ModelWorkload& workload) {
  if (workload.scenario.phase == Phase::train) return Bytes(0);
  const double elements =
      static_cast<double>(kv_elements_per_token(workload.architecture, workload.layout.tp));
  const Precision storage = kv_storage(workload.architecture, workload.scenario);
  return Bytes(elements * storage_bits(storage) / 8.0);
}

ModelEvaluation evaluate_model(const ModelWorkload& workload, const Machine& machine) {
  ModelEvaluation result;
  result.ranks = static_cast<double>(workload.layout.ranks());
  result.floors.phase = name_of(workload.scenario.phase);
  const ParameterCount count = workload.architecture.parameter_count();
  result.floors.parameters = static_cast<double>(count.total);
  result.floors.active_parameters = static_cast<double>(count.active);
  result.floors.cache_per_token = cache_per_token(workload);
  if (workload.scenario.phase == Phase::generate) {
    generate(workload, machine, result);
  } else if (workload.scenario.phase == Phase::train) {
    train(workload, machine, result);
  } else {
    one_step(workload, machine, result);
  }
  return result;
}

}  // namespace floorline
