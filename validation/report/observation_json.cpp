// SPDX-License-Identifier: Apache-2.0
#include "validation/report/observation_json.hpp"

#include "model/report/document_head.hpp"

namespace floorline {

namespace {

Json summary_json(const Observation& o) {
  const SampleSummary& s = o.summary;
  const std::string suffix(key_suffix(o.what.kind));
  Json json = Json::object();
  json.set("median" + suffix, s.median);
  json.set("minimum" + suffix, s.minimum);
  json.set("maximum" + suffix, s.maximum);
  if (s.interval) {
    json.set("interval", Json::object()
                             .set("low" + suffix, s.interval->low)
                             .set("high" + suffix, s.interval->high)
                             .set("coverage", s.interval->coverage));
  } else {
    json.set("interval", Json());
  }
  json.set("spread", s.spread());
  json.set("samples", s.count);
  return json;
}

Json state_json(const MachineState& state) {
  const auto hertz = [](const std::optional<Hertz>& f) {
    return f ? Json(f->in_base_units()) : Json();
  };
  const auto number = [](const std::optional<double>& x) { return x ? Json(*x) : Json(); };
  return Json::object()
      .set("sm_clock_hz", hertz(state.sm_clock))
      .set("memory_clock_hz", hertz(state.memory_clock))
      .set("temperature_celsius", number(state.temperature_celsius))
      .set("power_watts", number(state.power_watts))
      .set("throttle_reasons", state.throttle_reasons ? Json(*state.throttle_reasons) : Json());
}

Json machine_json(const MeasuredOn& on) {
  const auto text = [](const std::string& t) { return t.empty() ? Json() : Json(t); };
  Json versions = Json::object();
  for (const auto& [name, version] : on.versions) versions.set(name, version);
  return Json::object()
      .set("backend", text(on.backend))
      .set("device", text(on.device))
      .set("driver", text(on.driver))
      .set("host", text(on.host))
      .set("versions", std::move(versions));
}

Json correctness_json(const std::optional<Correctness>& c) {
  if (!c) return {};
  return Json::object()
      .set("max_error", c->max_error)
      .set("bound", c->bound)
      .set("passed", c->passed);
}

}  // namespace

std::string_view key_suffix(MeasurandKind kind) {
  switch (kind) {
    case MeasurandKind::time:
      return "_s";
    case MeasurandKind::ratio:
      return "";
    case MeasurandKind::bytes:
      return "_bytes";
    case MeasurandKind::flops:
      return "_flops";
    case MeasurandKind::bandwidth:
      return "_bytes_per_s";
    case MeasurandKind::flop_rate:
      return "_flops_per_s";
  }
  return "";
}

Json observation_json(const Observation& o) {
  Json samples = Json::array();
  for (const double s : o.samples) samples.push(s);
  Json json = Json::object();
  json.set("what", o.what.name);
  json.set("kind", name_of(o.what.kind));
  json.set("evidence", name_of(o.evidence));
  json.set("summary", summary_json(o));
  json.set("timer_resolution_s", o.timer_resolution.in_base_units());
  json.set("warm_up_calls", o.warm_up);
  json.set("calls_per_sample", o.calls_per_sample);
  json.set("caches", Json::object()
                         .set("mode", name_of(o.caches.mode))
                         .set("rotated_bytes", o.caches.rotated.in_base_units())
                         .set("calls", o.caches.calls));
  json.set("correctness", correctness_json(o.correctness));
  json.set("before", state_json(o.before));
  json.set("after", state_json(o.after));
  json.set("machine", machine_json(o.machine));
  json.set("budget_ended", o.budget_ended);
  json.set("notes", json_of(o.notes));
  json.set("samples" + std::string(key_suffix(o.what.kind)), std::move(samples));
  return json;
}

}  // namespace floorline
