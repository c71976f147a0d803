// SPDX-License-Identifier: Apache-2.0
#include "model/report/whatif_json.hpp"

#include <algorithm>

#include "model/report/document_head.hpp"

namespace floorline {

namespace {

Json number_or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(); }
Json seconds_or_null(const std::optional<Seconds>& value) {
  return value ? Json(value->in_base_units()) : Json();
}

std::string text_of(const Assignment& a) { return a.name + (a.scale ? "*=" : "=") + a.value; }

Json binding_json(const Outcome& outcome) {
  const GraphFloors& f = outcome.evaluation.floors;
  const auto runner_up = runner_up_of(outcome);
  const bool bound = f.serial.cold > Seconds(0);
  const bool fused = f.fused.cold > Seconds(0);
  return Json::object()
      .set("binding", bound ? Json(name_of(f.serial_binding)) : Json())
      .set("runner_up", runner_up ? Json(name_of(*runner_up)) : Json())
      .set("fused_binding", fused ? Json(name_of(f.fused_binding)) : Json());
}

}  // namespace

Json json_of(const Ratio& ratio) {
  return Json::object()
      .set("cold", number_or_null(ratio.cold))
      .set("any_residency", number_or_null(ratio.any));
}

Json json_of(const Ratios& ratios) {
  return Json::object()
      .set("serial", json_of(ratios.serial))
      .set("critical_path", json_of(ratios.critical_path))
      .set("fused", json_of(ratios.fused));
}

Json json_of(const SingleChange& c) {
  Json json = Json::object();
  json.set("name", c.change.name).set("from", c.from).set("to", c.to);
  if (c.executions != 1) json.set("executions", c.executions ? Json(*c.executions) : Json());
  json.set("floor_ratio", c.alone ? number_or_null(c.alone->serial.cold) : Json());
  json.set("floor_ratios", c.alone ? json_of(*c.alone) : Json());
  if (!c.cannot.empty()) json.set("not_alone", c.cannot);
  if (const auto& even = c.break_even.found) {
    json.set("break_even", Json::object()
                               .set("value", even->value)
                               .set("text", even->text)
                               .set("factor", even->factor)
                               .set("binding", name_of(even->to))
                               .set("within_change", even->within));
  } else {
    json.set("break_even", Json());
    json.set("no_break_even", c.break_even.reason);
  }
  return json;
}

Json json_of(const RankedChange& r) {
  Json changes = Json::array();
  for (const Assignment& a : r.changes) changes.push(text_of(a));
  Json json = Json::object();
  json.set("kind", name_of(r.kind)).set("name", r.name).set("changes", std::move(changes));
  json.set("floor_ratio", number_or_null(r.gain.cold));
  json.set("floor_ratio_any_residency", number_or_null(r.gain.any));
  json.set("elasticity", number_or_null(r.elasticity));
  json.set("share", r.share).set("share_of", r.share_measured ? "measured time" : "serial floor");
  json.set("ceiling", number_or_null(r.ceiling));
  json.set("expected_saving_s", seconds_or_null(r.saving));
  json.set("peak_memory_change_bytes", r.memory ? Json(r.memory->in_base_units()) : Json());
  if (!r.note.empty()) json.set("note", r.note);
  return json;
}

std::string no_speedup_reason(const MeasuredAnswer& m) {
  return m.impossible ? "none: the time is impossible, so nothing follows from it"
                      : "no floor after the change bounds it";
}

Json json_of(const MeasuredAnswer& m, const std::string& given) {
  Json json = Json::object();
  json.set("time_s", m.time.in_base_units()).set("given", given);
  json.set("floor_any_residency_before_s", seconds_or_null(m.floor_before));
  json.set("floor_any_residency_after_s", seconds_or_null(m.floor_after));
  if (m.token_speedup_at_most) json.set("token_speedup_at_most", *m.token_speedup_at_most);
  if (!m.speedup_at_most) json.set("no_speedup_at_most", no_speedup_reason(m));
  json.set("ratio_serial_cold", m.over_serial > 0 ? Json(m.over_serial) : Json());
  json.set("impossible", m.impossible).set("warm", m.warm).set("far_above_floor", m.far_above);
  json.set("look_first", json_of(m.look_first));
  Json expectation;
  if (m.expected) {
    expectation = Json::object()
                      .set("time_s", m.expected->in_base_units())
                      .set("ratio", m.time / *m.expected)
                      .set("ratio_interval", Json::array()
                                                 .push(std::min(1.0, m.time / *m.expected))
                                                 .push(std::max(1.0, m.time / *m.expected)))
                      .set("basis",
                           "from nothing, where what holds the run hides the change, to the whole "
                           "difference of the serial cold floors");
  }
  json.set("expectation", std::move(expectation));
  return json;
}

Json json_of(const AmdahlPrediction& p) {
  Json parts = Json::array();
  for (const PartChange& part : p.parts) {
    parts.push(Json::object()
                   .set("name", part.name)
                   .set("before_s", part.before.in_base_units())
                   .set("after_s", part.after.in_base_units())
                   .set("ratio", number_or_null(ratio_of(part.before, part.after)))
                   .set("basis", part.why));
  }
  return Json::object()
      .set("parts", std::move(parts))
      .set("time_s", p.before.in_base_units())
      .set("share", p.share())
      .set("ceiling", number_or_null(p.ceiling()))
      .set("expected_s", p.after.in_base_units())
      .set("expected_ratio", number_or_null(ratio_of(p.before, p.after)))
      .set("changed_unmeasured", json_of(p.unmeasured));
}

Json json_of(const LineAnswer& line) {
  Json points = Json::array();
  for (const LinePoint& p : line.fit.points) {
    points.push(Json::object()
                    .set("name", p.name)
                    .set("bytes", p.traffic.in_base_units())
                    .set("time_s", p.time.in_base_units()));
  }
  const auto side = [](Bytes traffic, Seconds time) {
    return Json::object().set("bytes", traffic.in_base_units()).set("time_s", time.in_base_units());
  };
  return Json::object()
      .set("points", std::move(points))
      .set("fixed_s", line.fit.fixed.in_base_units())
      .set("bytes_per_s", line.fit.bandwidth.in_base_units())
      .set("worst_residual_s", line.fit.worst_residual.in_base_units())
      .set("before", side(line.before, line.time_before))
      .set("after", side(line.after, line.time_after))
      .set("expected_ratio", line.impossible.empty()
                                 ? number_or_null(ratio_of(line.time_before, line.time_after))
                                 : Json())
      .set("byte_ratio", line.after > Bytes(0) ? Json(line.before / line.after) : Json())
      .set("impossible", json_of(line.impossible))
      .set("doubt", json_of(line.doubts));
}

Json bindings_json(const Whatif& result) {
  return Json::object()
      .set("before", binding_json(result.before))
      .set("after", binding_json(result.after));
}

Json model_json(const ModelFloors& model) {
  return Json::object()
      .set("phase", model.phase)
      .set("step_floor_s", model.step.in_base_units())
      .set("tokens_per_step", model.tokens_per_step)
      .set("tokens_per_s_ceiling", model.tokens_per_s_ceiling)
      .set("resident_bytes", model.resident.in_base_units())
      .set("kv_bytes_per_token", model.cache_per_token.in_base_units());
}

Json peak_memory_json(const Whatif& result) {
  const auto before = peak_memory(result.before);
  const auto after = peak_memory(result.after);
  if (!before || !after) return Json();
  const double b = before->to_bytes().in_base_units();
  const double a = after->to_bytes().in_base_units();
  return Json::object().set("before_bytes", b).set("after_bytes", a).set("change_bytes", a - b);
}

}  // namespace floorline
