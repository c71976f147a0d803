// SPDX-License-Identifier: Apache-2.0
#include "validation/report/line_document.hpp"

#include <cmath>

#include "model/quantity/unit_names.hpp"
#include "model/report/document_head.hpp"
#include "model/report/resource_words.hpp"

namespace floorline {

namespace {

constexpr double kCurved = 0.1;  // a residual that repeats of a kernel do not make

bool is_bytes(const LineReport& r) { return r.kind == AmountKind::bytes; }
const char* size_key(const LineReport& r) { return is_bytes(r) ? "bytes" : "flops"; }
const char* rate_key(const LineReport& r) { return is_bytes(r) ? "bytes_per_s" : "flops_per_s"; }
ResourceId of_kind(const LineReport& r) {
  return is_bytes(r) ? ResourceId{Unit::hbm} : ResourceId{Unit::compute};
}
std::string size_text(const LineReport& r, Amount a) { return amount_text(of_kind(r), a); }
std::string rate_of(const LineReport& r, AmountPerSecond a) { return rate_text(of_kind(r), a); }

std::string limit_words(const LineReport& r) {
  if (r.together.empty()) return words_for(r.resource);
  return name_of(r.together.front()) + " + " + name_of(r.together.back());
}

std::string refusal_text(const LineReport& r) {
  switch (r.fit.refusal) {
    case LineRefusal::none:
      return "";
    case LineRefusal::too_few:
      return "fewer than two different sizes" +
             (r.more_than ? " above 2 S_keep = " + size_text(r, *r.more_than) : "") +
             ": no line through them";
    case LineRefusal::not_growing:
      return "the times do not grow with size: all of it is fixed cost, and no rate can be seen";
    case LineRefusal::above_ceiling:
      return "refused as not physical: the slope would be " + rate_of(r, *r.fit.rate) +
             ", above the ceiling " + rate_of(r, *r.ceiling) + " of " + limit_words(r) +
             "; the fixed cost hides it, or the sizes count what was not done";
    case LineRefusal::negative_fixed:
      return "the fixed cost would be below zero: the times do not lie on a line (small sizes run "
             "from caches?)";
  }
  return "";
}

bool has_line(const LineReport& r) { return r.fit.refusal != LineRefusal::too_few; }

Json inputs_json(const LineReport& r) {
  const bool known = r.machine != nullptr;
  Json together = Json::array();
  for (const ResourceId& id : r.together) together.push(name_of(id));
  return Json::object()
      .set("line", r.file)
      .set("x", size_key(r))
      .set("measured", r.measured)
      .set("device", known ? Json(r.machine->device.name) : Json())
      .set("resource", known && r.together.empty() ? Json(name_of(r.resource)) : Json())
      .set("resources_together", std::move(together));
}

Json fit_json(const LineReport& r) {
  const MeasuredLine& f = r.fit;
  const bool fits = f.refusal == LineRefusal::none;
  const std::string rate = rate_key(r);
  Json json = Json::object();
  json.set("model", "t = t0 + x / R");
  json.set("method", "least squares of relative residuals");
  json.set("points_used", static_cast<std::int64_t>(f.used));
  json.set("fixed_s", has_line(r) ? Json(f.fixed.in_base_units()) : Json());
  json.set(rate, fits ? Json(f.rate->in_base_units()) : Json());
  json.set("refused_" + rate, !fits && f.rate ? Json(f.rate->in_base_units()) : Json());
  json.set(std::string("half_performance_") + size_key(r),
           f.half_size ? Json(f.half_size->in_base_units()) : Json());
  json.set("largest_residual", has_line(r) ? Json(f.largest_residual) : Json());
  json.set("refusal", fits ? Json() : Json(name_of(f.refusal)));
  json.set("reason", fits ? Json() : Json(refusal_text(r)));
  return json;
}

Json points_json(const LineReport& r) {
  Json all = Json::array();
  std::size_t used = 0;
  for (const MeasuredPoint& p : r.points) {
    const bool fitted = p.used && used < r.fit.residuals.size();
    all.push(Json::object()
                 .set("place", p.place)
                 .set(size_key(r), p.size.in_base_units())
                 .set("time_s", p.time.in_base_units())
                 .set("residual", fitted ? Json(r.fit.residuals[used]) : Json())
                 .set("left_out", p.used ? Json() : Json(p.why_not)));
    if (p.used) ++used;
  }
  return all;
}

Table point_table(const LineReport& r) {
  Table table;
  table.columns = {{"place"},         {"size", true},     {"time", true},
                   {"reached", true}, {"residual", true}, {""}};
  std::size_t used = 0;
  for (const MeasuredPoint& p : r.points) {
    std::string residual = "-";
    if (p.used && used < r.fit.residuals.size()) {
      residual = number_text(r.fit.residuals[used] * 100, 2) + " %";
    }
    table.rows.push_back({p.place, size_text(r, p.size), to_text(p.time),
                          rate_of(r, AmountPerSecond(FlopsPerSecond(p.size.in_base_units() /
                                                                    p.time.in_base_units()))),
                          residual, p.why_not});
    if (p.used) ++used;
  }
  return table;
}

/// Where the fixed cost is as long as the work takes at the published rate. Of a line that was
/// refused nothing is concluded.
void add_hidden_size(const LineReport& r, Section& s) {
  if (!r.nominal || r.fit.refusal != LineRefusal::none || !(r.fit.fixed > Seconds(0))) return;
  const Amount hidden = *r.nominal * r.fit.fixed;
  std::string text = size_text(r, hidden) + " at the published " + rate_of(r, *r.nominal);
  if (!is_bytes(r)) {
    text += ", a product of about " +
            number_text(std::round(std::cbrt(hidden.in_base_units() / 2)), 4) + "^3";
  }
  s.fields.push_back({"t0 is the time of", text});
  s.lines.push_back(
      "- below that size a run measures the fixed cost (launch, latency, synchronization), "
      "not the work");
}

Section summary(const LineReport& r) {
  Section s;
  const MeasuredLine& f = r.fit;
  s.fields.push_back({"line", "t = t0 + x / R, least squares of relative residuals"});
  if (r.machine != nullptr) s.fields.push_back({"device", device_line(*r.machine)});
  s.fields.push_back({"points", std::to_string(f.used) + " of " + std::to_string(r.points.size())});
  if (has_line(r)) s.fields.push_back({"fixed cost t0", to_text(f.fixed)});
  if (f.refusal == LineRefusal::none) {
    std::string rate = rate_of(r, *f.rate);
    if (r.ceiling)
      rate += ", " + percent_text(f.rate->in_base_units() / r.ceiling->in_base_units()) +
              " of the ceiling";
    s.fields.push_back({"rate R", rate});
    s.fields.push_back({"n_half = t0 R", size_text(r, *f.half_size)});
  } else {
    s.fields.push_back({"rate R", "none"});
    s.lines.push_back("- " + refusal_text(r));
  }
  if (has_line(r)) {
    s.fields.push_back({"largest residual", percent_text(f.largest_residual)});
    if (f.largest_residual > kCurved) {
      s.lines.push_back(
          "- residuals above 10 %: these sizes do not lie on one line (another kernel or "
          "algorithm at another size?); fit a narrower range");
    }
  }
  add_hidden_size(r, s);
  s.tables.push_back(point_table(r));
  return s;
}

}  // namespace

Document line_document(const LineReport& r) {
  Document doc;
  doc.json = document_head("calibrate");
  doc.json.set("inputs", inputs_json(r));
  doc.json.set("assumptions", Json::array()).set("notes", json_of(r.notes));
  doc.json.set("fit", fit_json(r));
  doc.json.set(std::string("ceiling_") + rate_key(r),
               r.ceiling ? Json(r.ceiling->in_base_units()) : Json());
  doc.json.set("points", points_json(r));
  doc.sections.push_back(summary(r));
  const std::vector<std::string> lines = small_print_lines(r.notes, {});
  if (!lines.empty()) doc.sections.push_back({"Conditions and assumptions", {}, lines, {}});
  for (const char* name : {"place", "size", "time_s", "left_out"})
    doc.csv.columns.push_back({name});
  for (const MeasuredPoint& p : r.points) {
    doc.csv.rows.push_back({p.place, exact_text(p.size.in_base_units()),
                            exact_text(p.time.in_base_units()), p.why_not});
  }
  return doc;
}

}  // namespace floorline
