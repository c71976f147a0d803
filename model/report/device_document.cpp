// SPDX-License-Identifier: Apache-2.0
#include "model/report/device_document.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "model/device/device_text.hpp"
#include "model/quantity/unit_names.hpp"
#include "model/report/document_head.hpp"
#include "model/report/floor_json.hpp"
#include "model/report/resource_words.hpp"

namespace floorline {

namespace {

/// One number of a device file, as text.
struct NumberRow {
  std::string key;
  std::string value;
  std::string range;
  std::string kind;
  std::string origin;
  std::string source;
  std::string note;
  std::string unknown;
  Position at;
};

/// Keys that describe any accelerator: a file that leaves one out does not know it.
constexpr std::array<std::string_view, 16> kExpectedKeys{"units",
                                                         "memory.sector_bytes",
                                                         "memory.hbm.bandwidth",
                                                         "memory.hbm.capacity",
                                                         "memory.hbm.driver_capacity",
                                                         "memory.l2.capacity",
                                                         "memory.l2.bandwidth",
                                                         "memory.shared.capacity_per_unit",
                                                         "memory.registers.capacity_per_unit",
                                                         "link.h2d.bandwidth",
                                                         "link.d2h.bandwidth",
                                                         "link.peer.bandwidth",
                                                         "topology.devices_per_node",
                                                         "topology.kind",
                                                         "topology.in_network_reduction",
                                                         "topology.multicast"};

struct NumberRows {
  std::vector<NumberRow> rows;
  int known = 0;
  int absent = 0;  ///< expected keys that the file does not have

  [[nodiscard]] int asked() const { return static_cast<int>(rows.size()) + absent; }
  [[nodiscard]] double share_known() const {
    return asked() == 0 ? 0 : static_cast<double>(known) / asked();
  }

  template <class Q>
  void operator()(const std::string& path, const char* leaf, const MaybeSourced<Q>& member) {
    NumberRow row;
    row.key = path.empty() ? std::string(leaf) : path + "." + leaf;
    if (!member.known && member.unknown_because.empty()) {
      const bool expected =
          std::find(kExpectedKeys.begin(), kExpectedKeys.end(), row.key) != kExpectedKeys.end();
      absent += expected ? 1 : 0;
      return;
    }
    row.unknown = member.unknown_because;
    row.at = member.at;
    if (member.known) {
      const Sourced<Q>& s = *member.known;
      row.value = plain_text(s.value);
      if (plain_text(s.low) != plain_text(s.high))
        row.range = plain_text(s.low) + " to " + plain_text(s.high);
      if (row.key.find("bandwidth") != std::string::npos) row.kind = name_of(s.kind);
      row.origin = name_of(s.from.origin);
      row.source = s.from.source;
      row.note = s.from.note;
      ++known;
    }
    rows.push_back(std::move(row));
  }
};

NumberRows numbers_of(const DeviceSpec& device) {
  NumberRows rows;
  visit_numbers(device, rows);
  return rows;
}

std::string source_title(const DeviceSpec& device, const std::string& key) {
  for (const SourceSpec& source : device.sources) {
    if (source.key == key) return source.title;
  }
  return key;
}

Json number_json(const NumberRow& row, const DeviceSpec& device) {
  Json json = Json::object();
  json.set("key", row.key);
  json.set("value", row.value.empty() ? Json() : Json(row.value));
  if (!row.range.empty()) json.set("range", row.range);
  if (!row.kind.empty()) json.set("kind", row.kind);
  json.set("origin", row.origin.empty() ? Json() : Json(row.origin));
  json.set("source", row.source.empty() ? Json() : Json(source_title(device, row.source)));
  if (!row.note.empty()) json.set("note", row.note);
  if (!row.unknown.empty()) json.set("unknown", row.unknown);
  json.set("line", static_cast<int>(row.at.line));
  return json;
}

bool shown_rate(ResourceId id) {
  return id.input != Precision::any && id.accumulate != Precision::any && id.unit != Unit::linear &&
         id.unit != Unit::host;
}

bool is_compute(ResourceId id) { return amount_kind(id.unit) == AmountKind::flops; }

Json rates_json(const Machine& machine) {
  Json all = Json::array();
  for (const ResourceId id : machine.rates.known()) {
    if (!shown_rate(id)) continue;
    const Rate& rate = machine.rates[id];
    Json json = Json::object();
    json.set("resource",
             id.unit == Unit::product ? "products." + std::string(name_of(id.input)) : name_of(id));
    json.set(std::string("nominal_") + rate_key(id), rate.nominal.in_base_units());
    json.set(std::string("ceiling_") + rate_key(id),
             rate.has_ceiling ? Json(rate.ceiling.in_base_units()) : Json());
    if (*rate.how != '\0') json.set("rate_from", rate.how);
    if (is_compute(id)) {
      Json ridges = Json::object();
      for (const Unit level : {Unit::hbm, Unit::l2}) {
        if (const auto ridge = ridge_point(machine.rates, id, level)) {
          ridges.set(name_of(level), ridge->in_base_units());
        }
      }
      json.set("ridge_flops_per_byte", std::move(ridges));
    }
    all.push(std::move(json));
  }
  return all;
}

Table rate_table(const Machine& machine) {
  Table table;
  table.title = "Rates and ridge points (nominal)";
  table.columns = {{"resource", false},    {"nominal", true},          {"ceiling", true},
                   {"ridge at HBM", true}, {"at L2 (observed)", true}, {"from", false}};
  for (const ResourceId id : machine.rates.known()) {
    if (!shown_rate(id)) continue;
    const Rate& rate = machine.rates[id];
    const auto ridge = [&](Unit level) {
      const auto point = is_compute(id) ? ridge_point(machine.rates, id, level) : std::nullopt;
      return point ? number_text(point->in_base_units(), 4) : std::string("-");
    };
    table.rows.push_back(
        {id.unit == Unit::product ? words_for(id) : name_of(id), rate_text(id, rate.nominal),
         rate.has_ceiling ? rate_text(id, rate.ceiling) + (rate.provisional ? " (best seen)" : "")
                          : "not known",
         ridge(Unit::hbm), ridge(Unit::l2), rate.how});
  }
  return table;
}

Table number_table(const NumberRows& numbers) {
  Table table;
  table.title = "Every number of the file";
  table.columns = {{"key", false, true},
                   {"value", true},
                   {"range", false},
                   {"origin", false},
                   {"source", false}};
  for (const NumberRow& row : numbers.rows) {
    if (!row.unknown.empty()) {
      table.rows.push_back({row.key, "unknown", "", "", row.unknown});
      continue;
    }
    const std::string origin =
        row.kind.empty() || row.kind == "ceiling" ? row.origin : row.origin + ", " + row.kind;
    table.rows.push_back({row.key, row.value, row.range, origin, row.source});
  }
  return table;
}

Section caches_section(const Machine& machine) {
  Section section;
  const OnChip& chip = machine.chip;
  section.fields.push_back({"S_keep", chip.keep_known ? to_text_binary(chip.keep) : "not known"});
  section.fields.push_back({"S_all", chip.all_known ? to_text_binary(chip.all) : "not known"});
  return section;
}

Section overrides_section(const DeviceSpec& device) {
  Section section;
  if (device.overrides.empty()) return section;
  section.title = "Overrides" + (device.extends.empty() ? std::string() : " of " + device.extends);
  for (const Override& o : device.overrides) {
    section.lines.push_back("- " + o.key + ": " + o.before + " -> " + o.after);
  }
  return section;
}

Section sources_section(const DeviceSpec& device) {
  Section section;
  section.title = "Sources";
  for (const SourceSpec& source : device.sources) {
    section.lines.push_back("- " + source.key + ": " + source.title);
  }
  return section;
}

/// "80 GB = 74.5 GiB": advertised, both ways.
std::string capacity_text(const DeviceSpec& device) {
  if (!device.hbm.capacity) return "-";
  const Bytes b = device.hbm.capacity->value;
  return to_text(b, 3) + " = " + to_text_binary(b, 4);
}

/// What the driver reports; not what a data sheet says.
std::string usable_text(const DeviceSpec& device) {
  const MaybeSourced<Bytes>& capacity = device.hbm.driver_capacity;
  return capacity ? to_text_binary(capacity->value, 4) : "-";
}

/// bf16 where there is one, else fp16 (Volta, Turing).
ResourceId half_tensor(const Rates& rates) {
  const ResourceId bf16{Unit::tensor, Precision::bf16, Precision::fp32};
  return rates[bf16].known ? bf16 : ResourceId{Unit::tensor, Precision::fp16, Precision::fp32};
}

}  // namespace

Document device_list_document(const std::vector<Machine>& machines) {
  Document doc = document_frame("devices");
  Json list = Json::array();
  Table table;
  table.columns = {{"device", false, true}, {"what", false},     {"HBM advertised", true},
                   {"HBM usable", true},    {"bandwidth", true}, {"16-bit tensor", true},
                   {"ridge FLOP/B", true},  {"known", true}};
  table.footnotes = {
      "HBM usable: what the driver reports, where the file states it; it may lie above what is "
      "advertised, as the GB of a vendor may mean GiB; known: share of the numbers of a device."};
  for (const Machine& m : machines) {
    const NumberRows numbers = numbers_of(m.device);
    const ResourceId half = half_tensor(m.rates);
    const Rate& half_rate = m.rates[half];
    const Rate& hbm = m.rates[{Unit::hbm}];
    const auto ridge = ridge_point(m.rates, half, Unit::hbm);
    const double share = numbers.share_known();
    list.push(Json::object()
                  .set("name", m.device.name)
                  .set("title", m.device.title)
                  .set("hbm_capacity_bytes",
                       m.device.hbm.capacity ? Json(m.device.hbm.capacity->value.in_base_units())
                                             : Json())
                  .set("hbm_driver_capacity_bytes",
                       m.device.hbm.driver_capacity
                           ? Json(m.device.hbm.driver_capacity->value.in_base_units())
                           : Json())
                  .set("hbm_bytes_per_s", hbm.known ? Json(hbm.nominal.in_base_units()) : Json())
                  .set("half_precision", half_rate.known ? Json(name_of(half)) : Json())
                  .set("half_precision_flops_per_s",
                       half_rate.known ? Json(half_rate.nominal.in_base_units()) : Json())
                  .set("ridge_flops_per_byte", ridge ? Json(ridge->in_base_units()) : Json())
                  .set("share_known", share));
    table.rows.push_back(
        {m.device.name, m.device.title, capacity_text(m.device), usable_text(m.device),
         hbm.known ? rate_text({Unit::hbm}, hbm.nominal) : "-",
         half_rate.known ? rate_text(half, half_rate.nominal) : "-",
         ridge ? number_text(ridge->in_base_units(), 3) : "-", percent_text(share)});
  }
  doc.json.set("devices", std::move(list));
  doc.csv = table;
  doc.csv.columns.back().name = "numbers known";
  doc.sections.push_back({"", {}, {}, {table}});
  doc.sections.push_back(
      {"", {}, {"floorline devices show NAME prints every number with origin and source."}, {}});
  return doc;
}

Document device_document(const Machine& machine) {
  const DeviceSpec& device = machine.device;
  const NumberRows numbers = numbers_of(device);
  Document doc;
  doc.json = document_head("devices");
  doc.json.set("inputs", Json::object().set("device", device_json(machine)));
  doc.json.set("assumptions", Json::array()).set("notes", Json::array());
  Json list = Json::array();
  for (const NumberRow& row : numbers.rows) list.push(number_json(row, device));
  const double share = numbers.share_known();
  doc.json.set("vendor", device.vendor).set("compute_capability", device.compute_capability);
  doc.json.set("numbers", std::move(list)).set("rates", rates_json(machine));
  doc.json.set("s_keep_bytes",
               machine.chip.keep_known ? Json(machine.chip.keep.in_base_units()) : Json());
  doc.json.set("s_all_bytes",
               machine.chip.all_known ? Json(machine.chip.all.in_base_units()) : Json());
  doc.json.set("share_known", share);

  Section head;
  head.title = device_line(machine);
  head.fields = {
      {"vendor", device.vendor},
      {"compute capability",
       device.compute_capability.empty() ? "none" : device.compute_capability},
      {"file", device.file},
      {"numbers known", std::to_string(numbers.known) + " of " + std::to_string(numbers.asked()) +
                            " (" + percent_text(share) + ")"}};
  doc.sections.push_back(head);
  doc.sections.push_back({"", {}, {}, {rate_table(machine)}});
  doc.sections.push_back(caches_section(machine));
  doc.sections.push_back({"", {}, {}, {number_table(numbers)}});
  if (!device.overrides.empty()) doc.sections.push_back(overrides_section(device));
  doc.sections.push_back(sources_section(device));
  doc.csv = number_table(numbers);
  return doc;
}

}  // namespace floorline
