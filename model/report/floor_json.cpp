// SPDX-License-Identifier: Apache-2.0
#include "model/report/floor_json.hpp"

namespace floorline {

namespace {

Json name_json(ResourceId id) { return Json(name_of(id)); }

Json residency_json(const ResidencyTimes& times, bool any_known, ResourceId binding,
                    bool with_binding) {
  Json json = Json::object();
  json.set("cold_s", times.cold.in_base_units());
  json.set("any_residency_s", any_known ? Json(times.any.in_base_units()) : Json());
  if (with_binding) json.set("binding", name_json(binding));
  return json;
}

Json break_even_json(const Floor& floor) {
  const std::optional<BreakEven> even = floor.break_even();
  if (!even) return Json();
  const ResourceId id = floor.binding_term().resource;
  Json json = Json::object();
  json.set("resource", name_json(id));
  json.set(amount_key(id), even->amount.in_base_units());
  json.set("factor", even->factor);
  return json;
}

const char* kind_word(const Term& term) {
  if (!term.rate->has_ceiling) return "nominal";
  return term.rate->provisional ? "best_seen" : "ceiling";
}

}  // namespace

const char* amount_key(ResourceId id) {
  switch (amount_kind(id.unit)) {
    case AmountKind::bytes:
      return "bytes";
    case AmountKind::flops:
      return "flops";
    case AmountKind::operations:
      return "operations";
    case AmountKind::seconds:
      return "host_s";
  }
  return "";
}

const char* rate_key(ResourceId id) {
  switch (amount_kind(id.unit)) {
    case AmountKind::bytes:
      return "bytes_per_s";
    case AmountKind::flops:
      return "flops_per_s";
    case AmountKind::operations:
      return "per_s";
    case AmountKind::seconds:
      return "host_s_per_s";
  }
  return "";
}

Json json_of(const Term& term) {
  Json json = Json::object();
  const AmountPerSecond rate = term.rate->has_ceiling ? term.rate->ceiling : term.rate->nominal;
  json.set("resource", name_json(term.resource));
  json.set(amount_key(term.resource), term.amount.in_base_units());
  json.set(rate_key(term.resource), rate.in_base_units());
  json.set("rate_kind", kind_word(term));
  if (*term.rate->how != '\0') json.set("rate_from", term.rate->how);
  json.set("time_s", term.time.in_base_units());
  if (const auto nominal = term.nominal_time())
    json.set("nominal_time_s", nominal->in_base_units());
  return json;
}

Json json_of(const Floor& floor) {
  Json json = Json::object();
  json.set("time_s", floor.time().in_base_units());
  json.set("condition", "cold");
  json.set("binding", floor.binding < 0 ? Json() : name_json(floor.binding_term().resource));
  json.set("runner_up",
           floor.runner_up() < 0
               ? Json()
               : name_json(floor.list()[static_cast<std::size_t>(floor.runner_up())].resource));
  if (floor.tie()) json.set("tie", true);
  json.set("break_even", break_even_json(floor));
  if (!floor.proven) json.set("proven", false);
  if (floor.provisional()) json.set("provisional", true);
  Json terms = Json::array();
  for (const Term& term : floor.list()) terms.push(json_of(term));
  json.set("terms", std::move(terms));
  return json;
}

Json json_of_any_residency(const OperatorFloors& op) {
  Json json = Json::object();
  json.set("time_s", op.memory_unknown ? Json() : Json(op.any.time().in_base_units()));
  json.set("condition", "any residency, kernels do not overlap");
  const bool none = op.any.none() || op.memory_unknown;
  json.set("binding", none ? Json() : name_json(op.any.resource()));
  return json;
}

Json json_of(const ObservedTerms& observed) {
  Json json = Json::array();
  for (int i = 0; i < observed.count; ++i) {
    const Term& term = observed.terms[static_cast<std::size_t>(i)];
    Json t = Json::object();
    t.set("resource", name_json(term.resource));
    t.set(amount_key(term.resource), term.amount.in_base_units());
    t.set(rate_key(term.resource), term.rate->nominal.in_base_units());
    t.set("rate_kind", "observed");
    t.set("time_s", term.time.in_base_units());
    json.push(std::move(t));
  }
  return json;
}

Json json_of_total(const GraphFloors& floors, double ranks, bool has_device) {
  Json json = Json::object();
  const bool known = floors.any_known;
  const auto known_bytes = [has_device](Bytes b) {
    return has_device ? Json(b.in_base_units()) : Json();
  };
  json.set("ranks", ranks);
  json.set("flops", floors.sum.flops.in_base_units());
  json.set("flops_all_ranks", floors.sum.flops.in_base_units() * ranks);
  json.set("hbm_read_bytes", known_bytes(floors.sum.hbm_read));
  json.set("hbm_write_bytes", known_bytes(floors.sum.hbm_write));
  json.set("fused_hbm_read_bytes", known_bytes(floors.fused_demand.hbm_read));
  json.set("fused_hbm_write_bytes", known_bytes(floors.fused_demand.hbm_write));
  json.set("serial", residency_json(floors.serial, known, {}, false));
  json.set("critical_path", residency_json(floors.critical_path, known, {}, false));
  json.set("fused", residency_json(floors.fused, known, floors.fused_binding,
                                   floors.fused.cold > Seconds(0)));
  const bool bound = floors.serial.cold > Seconds(0);
  json.set("binding", bound ? name_json(floors.serial_binding) : Json());
  Json shares = Json::object();
  for (const Share& share : serial_shares(floors))
    shares.set(name_of(share.resource), share.fraction);
  json.set("share", std::move(shares));
  if (!floors.proven) json.set("proven", false);
  return json;
}

}  // namespace floorline
