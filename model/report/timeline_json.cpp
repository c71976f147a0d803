// SPDX-License-Identifier: Apache-2.0
#include "model/report/timeline_json.hpp"

#include <unordered_map>

namespace floorline {

namespace {

Json seconds(Seconds t) { return Json(t.in_base_units()); }

Json reason_json(const Pipeline& p, const IdleReason& why) {
  Json json = Json::object();
  json.set("reason", why.ended ? std::string_view("no more work") : word(why.wait));
  json.set("stage", why.stage ? Json(p.stages[index_of(*why.stage)].name) : Json());
  json.set("time_s", seconds(why.time)).set("gaps", why.gaps);
  return json;
}

Json resource_json(const Pipeline& p, const ResourceUse& use) {
  const Pool& pool = p.pools[index_of(use.pool)];
  Json why = Json::array();
  for (const IdleReason& reason : use.why) why.push(reason_json(p, reason));
  return std::move(Json::object()
                       .set("name", pool.name)
                       .set("kind", word(pool.kind))
                       .set("servers", pool.servers)
                       .set("busy_s", seconds(use.busy))
                       .set("held_s", seconds(use.held))
                       .set("idle_s", seconds(use.idle))
                       .set("utilization", use.utilization)
                       .set("why", std::move(why)));
}

Json step_json(const Pipeline& p, const Schedule& s, const PathStep& step) {
  return std::move(Json::object()
                       .set("stage", p.stages[index_of(step.stage)].name)
                       .set("item", step.item)
                       .set("start_s", seconds(s.time_of(step.start)))
                       .set("end_s", seconds(s.time_of(step.end)))
                       .set("waited_for", waited_for_text(p, step)));
}

Json path_json(const Pipeline& p, const Timeline& t) {
  Json path = Json::array();
  const std::vector<PathStep>& steps = t.critical_path.steps;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const bool listed = steps.size() <= kMostPathSteps || k < kMostPathSteps / 2 ||
                        k >= steps.size() - kMostPathSteps / 2;
    if (listed) path.push(step_json(p, t.schedule, steps[k]));
  }
  return path;
}

Json makespan_json(const std::optional<SpeedUp>& faster) {
  return faster && !faster->deadlock ? seconds(faster->makespan) : Json();
}

using Sources = std::unordered_map<std::string_view, const StageSource*>;

Json group_json(const Sources& sources, const GroupReport& group) {
  Json json = Json::object();
  json.set("name", group.name)
      .set("count", static_cast<std::int64_t>(group.stages.size()))
      .set("busy_s", seconds(group.busy))
      .set("on_critical_path_s", seconds(group.on_path))
      .set("slack_s", seconds(group.slack))
      .set("makespan_if_twice_as_fast_s", makespan_json(group.twice_as_fast))
      .set("makespan_if_free_s", makespan_json(group.free))
      .set("anomaly", (group.twice_as_fast && group.twice_as_fast->anomaly) ||
                          (group.free && group.free->anomaly));
  const auto source = sources.find(group.name);
  if (source != sources.end())
    json.set("source", source->second->text).set("is_floor", source->second->is_floor);
  return json;
}

Json copies_json(const TimelineReport& r) {
  Json copies = Json::array();
  for (const StageSource& source : r.sources) {
    if (!source.copy) continue;
    const CopyFigures& c = *source.copy;
    Json json = Json::object();
    json.set("stage", source.stage)
        .set("bytes", c.bytes.in_base_units())
        .set("bytes_per_s", c.bandwidth.in_base_units())
        .set("latency_s", c.latency ? seconds(*c.latency) : Json())
        .set("half_bandwidth_bytes",
             c.latency ? Json((*c.latency * c.bandwidth).in_base_units()) : Json());
    copies.push(std::move(json));
  }
  return copies;
}

void add_period(const Timeline& t, Json& json) {
  if (!t.period) {
    json.set("period_s", Json()).set("period_kind", Json()).set("throughput_per_s", Json());
    return;
  }
  json.set("period_s", seconds(t.period->time))
      .set("period_kind", t.period->kind == PeriodKind::cycle_mean ? "cycle_mean" : "simulated")
      .set("period_at_least_s", seconds(t.period->at_least))
      .set("period_simulated_s", t.period->repeats ? seconds(*t.period->repeats) : Json())
      .set("throughput_per_s",
           t.period->time > Seconds(0) ? Json(1 / t.period->time.in_base_units()) : Json());
}

}  // namespace

void add_timeline_json(const TimelineReport& r, Json& json) {
  const Timeline& t = *r.timeline;
  json.set("makespan_s", seconds(t.schedule.makespan())).set("first_item_s", seconds(t.first_item));
  add_period(t, json);
  if (t.gpu_util) json.set("gpu_util", *t.gpu_util);
  if (t.communication) {
    json.set("communication_s", seconds(*t.communication))
        .set("exposed_communication_s", seconds(*t.exposed_communication));
  }
  if (!r.facts.empty()) {
    Json facts = Json::object();
    for (const TimelineFact& fact : r.facts) facts.set(fact.key, fact.value);
    json.set("facts", std::move(facts));
  }
  Json resources = Json::array();
  for (const ResourceUse& use : t.resources) resources.push(resource_json(*r.pipeline, use));
  Json stages = Json::array();
  Sources sources;
  for (const StageSource& source : r.sources) sources.emplace(source.stage, &source);
  for (const GroupReport& group : t.groups) stages.push(group_json(sources, group));
  json.set("resources", std::move(resources))
      .set("critical_path", path_json(*r.pipeline, t))
      .set("critical_path_waits_s", seconds(t.schedule.time_of(t.critical_path.waits)))
      .set("stages", std::move(stages));
  if (Json copies = copies_json(r); !copies.items().empty()) json.set("copies", std::move(copies));
}

}  // namespace floorline
