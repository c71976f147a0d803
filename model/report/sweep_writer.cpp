// SPDX-License-Identifier: Apache-2.0
#include "model/report/sweep_writer.hpp"

#include "model/quantity/unit_names.hpp"
#include "model/report/document_head.hpp"
#include "model/report/utf8.hpp"

namespace floorline {

namespace {

std::string json_text(std::string_view text) {
  Document doc;
  doc.json = Json(text);
  std::string written = write_json(doc);
  written.pop_back();  // the line's end
  return written;
}

std::string csv_text(const std::string& raw) {
  const std::string text = harmless(raw);
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

/// "batch"; a variable that is scaled is "memory.hbm.bandwidth*".
std::string label_of(const GridAxis& axis) { return axis.name() + (axis.scales() ? "*" : ""); }

/// A value under one column name, of a row that can be.
struct Cell {
  const char* name;
  std::string (*value)(const SweepRow&);
  bool text = false;
  bool model = false;  ///< of models only
};

std::string seconds(Seconds t) { return exact_text(t.in_base_units()); }
std::string if_known(const SweepRow& row, Seconds t) {
  return row.values.any_known ? seconds(t) : std::string();
}

constexpr Cell kCells[] = {
    {"fused_cold_s", [](const SweepRow& r) { return seconds(r.values.fused.cold); }},
    {"fused_any_residency_s", [](const SweepRow& r) { return if_known(r, r.values.fused.any); }},
    {"critical_path_cold_s",
     [](const SweepRow& r) { return seconds(r.values.critical_path.cold); }},
    {"critical_path_any_residency_s",
     [](const SweepRow& r) { return if_known(r, r.values.critical_path.any); }},
    {"serial_cold_s", [](const SweepRow& r) { return seconds(r.values.serial.cold); }},
    {"serial_any_residency_s", [](const SweepRow& r) { return if_known(r, r.values.serial.any); }},
    {"binding",
     [](const SweepRow& r) { return r.values.bound ? name_of(r.values.binding) : std::string(); },
     true},
    {"fused_binding",
     [](const SweepRow& r) {
       return r.values.fused.cold > Seconds(0) ? name_of(r.values.fused_binding) : std::string();
     },
     true},
    {"proven", [](const SweepRow& r) { return std::string(r.values.proven ? "true" : "false"); }},
    {"step_floor_s",
     [](const SweepRow& r) {
       return r.values.model ? seconds(r.values.model->step) : std::string();
     },
     false, true},
    {"tokens_per_s_ceiling",
     [](const SweepRow& r) {
       return r.values.model ? exact_text(r.values.model->tokens_per_s_ceiling) : std::string();
     },
     false, true},
    {"resident_bytes",
     [](const SweepRow& r) {
       return r.values.model ? exact_text(r.values.model->resident.in_base_units()) : std::string();
     },
     false, true},
    {"exceeds_capacity",
     [](const SweepRow& r) {
       const bool known = r.values.model && r.values.model->exceeds;
       return std::string(!known ? "" : *r.values.model->exceeds ? "true" : "false");
     },
     false, true},
};

/// Absent numbers are null, as is everything of a point that cannot be.
std::string json_cell(const Cell& cell, const SweepRow& row) {
  if (!row.reason.empty()) return "null";
  std::string value = cell.value(row);
  if (value.empty()) return "null";
  return cell.text ? json_text(value) : value;
}

}  // namespace

SweepWriter::SweepWriter(SweepFormat format, SweepHead head, const Grid& grid, Sink sink)
    : format_(format),
      head_(std::move(head)),
      grid_(grid),
      sink_(std::move(sink)),
      digits_(grid.axes().size(), 0) {}

void SweepWriter::begin() {
  if (format_ == SweepFormat::csv) {
    text_ = "point,device";
    for (const GridAxis& axis : grid_.axes()) text_ += "," + csv_text(label_of(axis));
    for (const Cell& cell : kCells) {
      if (!cell.model || head_.model) text_ += std::string(",") + cell.name;
    }
    text_ += ",reason\n";
    sink_(text_);
  }
  if (format_ != SweepFormat::json) return;
  Document doc;
  doc.json = document_head("sweep");
  doc.json.set("inputs", Json::object()
                             .set("workload", head_.workload)
                             .set("devices", json_of(head_.devices))
                             .set("set", json_of(head_.set))
                             .set("grid", json_of(head_.grid))
                             .set("points", static_cast<double>(grid_.points())));
  doc.json.set("assumptions", json_of(head_.assumptions)).set("notes", json_of(head_.notes));
  text_ = write_json(doc);
  text_.resize(text_.size() - 3);  // "\n}\n"
  sink_(text_ + ",\n  \"points\": [");
}

void SweepWriter::end() {
  if (format_ == SweepFormat::json) sink_("\n  ]\n}\n");
}

std::string SweepWriter::axis_value(std::size_t axis, bool json) const {
  const GridAxis& a = grid_.axes()[axis];
  const std::string text = a.text(digits_[axis]);
  if (!json) return csv_text(text);
  return a.numeric() ? exact_text(a.number(digits_[axis])) : json_text(text);
}

void SweepWriter::csv_row(const SweepRow& row) {
  grid_.place(row.point, digits_);
  text_ += std::to_string(row.point) + "," +
           csv_text(head_.devices[static_cast<std::size_t>(row.device)]);
  for (std::size_t a = 0; a < digits_.size(); ++a) text_ += "," + axis_value(a, false);
  for (const Cell& cell : kCells) {
    if (cell.model && !head_.model) continue;
    text_ += "," + (row.reason.empty() ? cell.value(row) : std::string());
  }
  text_ += "," + csv_text(row.reason) + "\n";
}

void SweepWriter::json_row(const SweepRow& row) {
  grid_.place(row.point, digits_);
  text_ += row.point == 0 ? "\n    {" : ",\n    {";
  text_ += "\"point\": " + std::to_string(row.point) +
           ", \"device\": " + json_text(head_.devices[static_cast<std::size_t>(row.device)]) +
           ", \"values\": {";
  for (std::size_t a = 0; a < digits_.size(); ++a) {
    text_ +=
        (a == 0 ? "" : ", ") + json_text(label_of(grid_.axes()[a])) + ": " + axis_value(a, true);
  }
  text_ += "}";
  for (const Cell& cell : kCells) {
    if (!cell.model || head_.model)
      text_ += std::string(", \"") + cell.name + "\": " + json_cell(cell, row);
  }
  text_ += ", \"reason\": " + (row.reason.empty() ? "null" : json_text(row.reason)) + "}";
}

void SweepWriter::columns(std::span<const SweepRow> rows) {
  const auto column = [&](const std::string& name, auto value) {
    text_ += (text_ == "{" ? "" : ", ") + json_text(name) + ": [";
    for (std::size_t i = 0; i < rows.size(); ++i) {
      grid_.place(rows[i].point, digits_);
      text_ += (i == 0 ? "" : ", ") + value(rows[i]);
    }
    text_ += "]";
  };
  text_ = "{";
  column("point", [](const SweepRow& r) { return std::to_string(r.point); });
  column("device", [this](const SweepRow& r) {
    return json_text(head_.devices[static_cast<std::size_t>(r.device)]);
  });
  for (std::size_t a = 0; a < digits_.size(); ++a)
    column(label_of(grid_.axes()[a]), [this, a](const SweepRow&) { return axis_value(a, true); });
  for (const Cell& cell : kCells) {
    if (!cell.model || head_.model)
      column(cell.name, [&cell](const SweepRow& r) { return json_cell(cell, r); });
  }
  column("reason",
         [](const SweepRow& r) { return r.reason.empty() ? "null" : json_text(r.reason); });
  text_ += "}\n";
}

void SweepWriter::write(std::span<const SweepRow> rows) {
  text_.clear();
  if (format_ == SweepFormat::columnar) {
    columns(rows);
  } else {
    for (const SweepRow& row : rows) {
      if (format_ == SweepFormat::csv) {
        csv_row(row);
      } else {
        json_row(row);
      }
    }
  }
  sink_(text_);
}

}  // namespace floorline
