// SPDX-License-Identifier: Apache-2.0
#include "model/evaluate_model.hpp"

#include <algorithm>

#include "model/quantity/expect.hpp"
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
  [[nodiscard]] ResidencyTimes slowest_times() const {
    ResidencyTimes most;
    for (const Stage& s : stages_) {
      most.cold = std::max(most.cold, s.evaluation.floors.fused.cold);
      most.any = std::max(most.any, s.evaluation.floors.fused.any);
    }
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
      sum += (s.evaluation.floors.sum.hbm_read + s.evaluation.floors.sum.hbm_write) * s.count * ranks_;
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
  [[nodiscard]] std::size_t size() const { return stages_.size(); }
  Stage take_slowest() { return slowest(); }

 private:
  const Machine& machine_;
  double ranks_;  ///< of one stage of one replica
  std::vector<Stage> stages_;
};

double tokens_of(const Scenario& scenario) {
  return static_cast<double>(scenario.sequences() * scenario.new_tokens());
}

void show(Step& step, const ModelWorkload& workload, ModelEvaluation& result) {
  Stage stage = step.take_slowest();
  if (workload.layout.pp > 1) {
    result.notes.push_back("operators shown: pipeline stage " + std::to_string(stage.number + 1) +
                           " of " + std::to_string(workload.layout.pp) + ", the slowest");
  }
  result.shown = std::move(stage.evaluation);
}

/// Adds one step to what a measured time is judged against.
void add_judging(const Step& step, const ParallelLayout& layout, ModelJudging& judging) {
  const auto add = [](ResidencyTimes& sum, const ResidencyTimes& times) {
    sum.cold += times.cold;
    sum.any += times.any;
  };
  const double ranks = static_cast<double>(layout.stage_ranks() * layout.pp);
  add(judging.latency, step.latency());
  add(judging.throughput, step.slowest_times());
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
  if (step.slowest_time() > Seconds(0)) {
    f.tokens_per_s_ceiling = dp * f.tokens_per_step / step.slowest_time().in_base_units();
  }
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
  result.notes.push_back("operators shown: the last of " + std::to_string(parts.steps) + " decode steps");
}

}  // namespace

OperatorGraph stage_graph(const ModelWorkload& workload, const Scenario& scenario, std::int64_t stage) {
  OperatorGraph graph =
      model_graph(workload.architecture, scenario, workload.layout, stage);
  for (const Assignment& a : workload.graph_settings) {
    const std::string op = a.name.substr(3, a.name.rfind('.') - 3);
    // An operator of another stage is not an error; one of no stage is.
    if (workload.layout.pp > 1 && !graph.find_op(op)) continue;
    assign(graph, a);
  }
  return graph;
}

ModelEvaluation evaluate_model(const ModelWorkload& workload, const Machine& machine) {
  ModelEvaluation result;
  result.ranks = static_cast<double>(workload.layout.ranks());
  result.floors.phase = name_of(workload.scenario.phase);
  const ParameterCount count = workload.architecture.parameter_count();
  result.floors.parameters = static_cast<double>(count.total);
  result.floors.active_parameters = static_cast<double>(count.active);
  if (workload.scenario.phase == Phase::generate) {
    generate(workload, machine, result);
  } else {
    one_step(workload, machine, result);
  }
  return result;
}

}  // namespace floorline
