// SPDX-License-Identifier: Apache-2.0
#include "validation/verdict/judge.hpp"

#include <algorithm>

#include "model/quantity/unit_names.hpp"
#include "validation/verdict/statements.hpp"

namespace floorline {

namespace {

std::string binding_of(const Floor& floor) {
  return floor.binding < 0 ? "" : name_of(floor.binding_term().resource);
}

ListedRow listed(const MeasuredRow& row, const RowVerdict& verdict, const std::string& place) {
  ListedRow all;
  all.place = place + ":" + std::to_string(row.line);
  all.gpu = row.keys.gpu;
  all.source = row.keys.source;
  all.keys = describe(row.keys);
  all.time = row.time + verdict.resolution;
  all.floor = verdict.any.time();
  all.binding = binding_of(verdict.any);
  return all;
}

/// What to doubt first, by what binds.
std::string doubt_of(const Floor& floor) {
  if (floor.binding < 0) return "nothing binds";
  switch (floor.binding_term().resource.unit) {
    case Unit::tensor:
    case Unit::vector:
      return "F or P: less work, or a faster precision, than the row is read as";
    case Unit::hbm:
      return "D or B: fewer bytes, or more kept on chip, than the row is read as";
    case Unit::l1_port:
      return "D or the port: fewer bytes, or a wider port, than is read";
    case Unit::peer_out:
    case Unit::peer_in:
      return "link bytes or rate: the fabric does more than is read";
    default:
      return "F, D, P or B";
  }
}

std::string missing_text(const MissingRates& missing, const Machine& machine) {
  return "device " + machine.device.name + " does not state " + device_key_of(missing.ids[0]);
}

}  // namespace

Residency residency_of(RowKind kind) {
  switch (kind) {
    case RowKind::attn_context:
    case RowKind::attn_decode:
    case RowKind::attn_encoder:
    case RowKind::mla_context:
    case RowKind::mla_decode:
    case RowKind::vidur_linear:
    case RowKind::vidur_elementwise:
      return Residency::any_keep;
    default:
      return Residency::any_all;
  }
}

namespace {

/// Where "balanced" is not: README of the data, caveats.
UniformTally grouped_top_k() {
  return {"grouped_top_k", "7168/2048, 8 of 256 experts: DeepSeek's grouped top-k", true};
}
UniformTally vllm_top_10() { return {"vllm_top_10", "4096/1024, 10 of 512 experts on vLLM", true}; }

std::size_t uniform_group(const RowKeys& keys, const MoeKeys& moe) {
  const bool grouped = moe.hidden == 7168 && moe.inter == 2048 && moe.top_k == 8;
  if (grouped && moe.experts == 256) return 0;
  const bool ten = moe.hidden == 4096 && moe.inter == 1024 && moe.top_k == 10;
  if (ten && moe.experts == 512 && keys.source.starts_with("vllm")) return 1;
  return 2;
}

}  // namespace

Judge::Judge(DevicePath path, std::string models)
    : machines_(std::move(path)), serving_(std::move(models)) {
  for (const ReadingRule& rule : reading_rules()) result_.rules.push_back({&rule});
  result_.uniform = {grouped_top_k(), vllm_top_10(), {"others", "all other balanced rows", false}};
}

RowVerdict Judge::verdict(const RowKeys& keys, const ReadingRule* left_out, Routing routing) {
  RowVerdict row;
  const Machine* machine = machines_.find(keys.gpu);
  if (machine == nullptr) {
    row.not_judged = "no device file for " + std::string(keys.gpu);
    return row;
  }
  Reading reading = read_row(keys, machine->chip, left_out);
  reading.routing = routing;
  if (keys.kind == RowKind::serving_e2e) {
    row = serving_.verdict(keys, reading, *machine);
  } else {
    row = judged(keys, reading, *machine);
  }
  row.resolution = reading.resolution;
  return row;
}

RowVerdict Judge::judged(const RowKeys& keys, const Reading& reading, const Machine& machine) {
  RowVerdict row;
  const std::optional<Demand> demand = graphs_.demand(keys, reading, machine.chip);
  if (!demand) {
    row.not_judged = "no operator has such sizes";
    return row;
  }
  row.demand = *demand;
  const MissingRates missing = missing_rates(row.demand, machine.rates);
  if (missing.count > 0 && reading.otherwise != Precision::none) {
    Reading other = reading;
    other.compute = reading.otherwise;
    other.otherwise = Precision::none;
    return judged(keys, other, machine);
  }
  if (missing.count > 0) {
    row.not_judged = missing_text(missing, machine);
    return row;
  }
  row.cold = floor_of(row.demand, machine.rates, machine.chip, Residency::cold);
  row.any = floor_of(row.demand, machine.rates, machine.chip, residency_of(keys.kind));
  if (!row.any.proven || row.any.provisional()) {
    row.not_judged = "a rate of " + machine.device.name + " has no proven ceiling";
  }
  return row;
}

void Judge::add(const CsvTable& table, const MeasuredFile& file) {
  const MeasuredRows read = read_rows(table, file.form, file.kind);
  for (const UnreadRow& row : read.unread) {
    if (file.form == TableForm::measured) ++result_.groups[{std::string(row.gpu), file.kind}].rows;
    refuse(row.gpu, file.kind, row.reason);
  }
  for (const MeasuredRow& row : read.rows) {
    if (file.form == TableForm::measured) {
      add_measured(row, file.name);
    } else {
      add_impossible(row, file.name);
    }
  }
}

void Judge::refuse(std::string_view gpu, RowKind kind, const std::string& reason) {
  ++result_.not_judged[reason];
  if (kind == RowKind::serving_e2e) {
    ++result_.serving_not_judged;
  } else if (machines_.find(gpu) != nullptr) {
    ++result_.not_judged_on_known_device;
  }
}

void Judge::add_measured(const MeasuredRow& row, const std::string& place) {
  GroupTally& group = result_.groups[{std::string(row.keys.gpu), row.keys.kind}];
  ++group.rows;
  const RowVerdict found = verdict(row.keys);
  if (!found.not_judged.empty()) return refuse(row.keys.gpu, row.keys.kind, found.not_judged);
  ++group.judged;
  const bool violating = found.refutes(row.time);
  const Seconds time = row.time + found.resolution;
  if (!violating && time < found.cold.time()) ++group.warm;
  if (found.any.time() > Seconds(0)) {
    const double ratio = time / found.any.time();
    if (group.closest == 0 || ratio < group.closest) group.closest = ratio;
  }
  if (violating) {
    ++group.violating;
    if (result_.violations.size() < kMaxListed) {
      result_.violations.push_back(listed(row, found, place));
      result_.violations.back().reason = why_below(row, found);
    }
  }
  const Machine& machine = *machines_.find(row.keys.gpu);
  count_rules(row, machine.chip, violating);
  count_uniform(row);
  tightness_.add(row, found, machine.chip.keep);
}

void Judge::count_rules(const MeasuredRow& row, const OnChip& chip, bool violating) {
  for (RuleTally& tally : result_.rules) {
    if (!tally.rule->covers(row.keys, chip)) continue;
    ++tally.rows;
    if (violating) ++tally.violating;
    const RowVerdict without = verdict(row.keys, tally.rule);
    if (without.not_judged.empty() && without.refutes(row.time)) ++tally.violating_without;
  }
}

void Judge::count_uniform(const MeasuredRow& row) {
  const auto* moe = std::get_if<MoeKeys>(&row.keys.work);
  if (moe == nullptr || !moe->balanced()) return;
  UniformTally& tally = result_.uniform[uniform_group(row.keys, *moe)];
  const RowVerdict uniform = verdict(row.keys, nullptr, Routing::uniform);
  ++tally.rows;
  if (uniform.refutes(row.time)) ++tally.below;
  if (row.time < uniform.cold.time()) ++tally.below_cold;
  if (uniform.cold.time() > Seconds(0)) tally.ratios.push_back(row.time / uniform.cold.time());
  if (!(uniform.any.time() > Seconds(0))) return;
  const double ratio = row.time / uniform.any.time();
  if (tally.closest == 0 || ratio < tally.closest) tally.closest = ratio;
}

void Judge::add_impossible(const MeasuredRow& row, const std::string& place) {
  const RowVerdict found = verdict(row.keys);
  if (!found.not_judged.empty()) return refuse(row.keys.gpu, row.keys.kind, found.not_judged);
  CalledTally& tally = result_.impossible[{std::string(row.keys.gpu), row.keys.kind}];
  ++tally.rows;
  if (found.refutes(row.time)) {
    ++tally.called;
  } else if (result_.not_called.size() < kMaxListed) {
    result_.not_called.push_back(listed(row, found, place));
    result_.not_called.back().reason = why_not_called(row, found);
  }
}

/// Which single reading stands against the row, or else what binds.
std::string Judge::why_below(const MeasuredRow& row, const RowVerdict& found) {
  for (const ReadingRule& rule : reading_rules()) {
    const RowVerdict without = verdict(row.keys, &rule);
    if (without.not_judged.empty() && !without.refutes(row.time)) {
      return "possible without rule " + std::string(rule.id);
    }
  }
  return doubt_of(found.any);
}

/// S_keep taken once from reads and writes together, or a rule left out, would call it.
std::string Judge::why_not_called(const MeasuredRow& row, const RowVerdict& found) {
  for (const ReadingRule& rule : reading_rules()) {
    const RowVerdict without = verdict(row.keys, &rule);
    if (without.not_judged.empty() && without.refutes(row.time)) {
      return "possible by rule " + std::string(rule.id) + ": without it the floor is " +
             to_text(without.any.time());
    }
  }
  const Machine& machine = *machines_.find(row.keys.gpu);
  Demand one_sided = found.demand;
  one_sided.hbm_read += one_sided.hbm_write;
  one_sided.hbm_write = Bytes(0);
  const Seconds once =
      floor_of(one_sided, machine.rates, machine.chip, residency_of(row.keys.kind)).time();
  if (row.time < once) {
    return "inside the two-sided residency allowance: with S_keep taken once the floor is " +
           to_text(once);
  }
  return "at or above its floor";
}

Judgement Judge::finish() {
  result_.tightness = tightness_.groups();
  for (UniformTally& tally : result_.uniform) tally.ratio = percentiles(std::move(tally.ratios));
  result_.statements = statements_of(result_);
  return std::move(result_);
}

GroupTally Judgement::total() const {
  GroupTally all;
  for (const auto& [key, group] : groups) {
    all.rows += group.rows;
    all.judged += group.judged;
    all.violating += group.violating;
    all.warm += group.warm;
    if (group.closest > 0 && (all.closest == 0 || group.closest < all.closest)) {
      all.closest = group.closest;
    }
  }
  return all;
}

CalledTally Judgement::total_impossible() const {
  CalledTally all;
  for (const auto& [key, tally] : impossible) {
    all.rows += tally.rows;
    all.called += tally.called;
  }
  return all;
}

bool Judgement::holds() const {
  return std::none_of(statements.begin(), statements.end(),
                      [](const Statement& s) { return s.holds == Statement::Holds::no; });
}

Judgement judge_folder(const MeasuredFolder& folder, DevicePath path, std::string models) {
  Judge judge(std::move(path), std::move(models));
  for (const MeasuredFile& file : folder.files) judge.add(CsvTable::read(file.path), file);
  judge.add_other_files(folder.other_files);
  return judge.finish();
}

}  // namespace floorline
