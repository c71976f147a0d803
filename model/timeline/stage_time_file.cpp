// SPDX-License-Identifier: Apache-2.0
#include "model/timeline/stage_time_file.hpp"

#include <array>

#include "model/input/table_reader.hpp"

namespace floorline {

namespace {

constexpr std::array<const char*, 7> kWays{"time",     "times", "bytes",       "op",
                                           "workload", "csv",   "distribution"};

Transfer read_transfer(TableReader& table, const std::string& resource) {
  Transfer t;
  t.bytes = table.quantity<Bytes>("bytes").value_or(Bytes(0));
  t.link = table.text("link").value_or(resource);
  t.bandwidth = read_bandwidth(table, "bandwidth");
  t.latency = table.quantity<Seconds>("latency");
  const std::optional<std::string> rate = table.text("rate");
  t.observed = rate == "observed";
  if (rate && *rate != "observed" && *rate != "ceiling")
    table.error("rate", quoted(*rate) + " is not one; expected ceiling or observed");
  return t;
}

FloorOf read_floor(TableReader& table) {
  FloorOf floor;
  floor.op = table.text("op").value_or("");
  floor.workload = table.text("workload").value_or("");
  if (table.has("set")) floor.set = table.texts("set").value_or(std::vector<std::string>{});
  const std::optional<std::string> condition = table.text("floor");
  floor.any_residency = condition == "any_residency";
  if (condition && *condition != "cold" && *condition != "any_residency")
    table.error("floor", quoted(*condition) + " is not one; expected cold or any_residency");
  floor.efficiency = table.number("efficiency").value_or(1);
  if (!(floor.efficiency > 0 && floor.efficiency <= 1)) {
    table.error("efficiency", "expected a share of the floor's rate above 0, up to 1");
    floor.efficiency = 1;
  }
  return floor;
}

Distribution read_distribution(TableReader& stage) {
  Distribution d;
  TableReader table(*stage.node("distribution"), stage.path_of("distribution"),
                    stage.diagnostics());
  const std::string kind = table.required_text("kind");
  const auto time = [&table](const char* key) {
    const std::optional<Seconds> value = table.quantity<Seconds>(key);
    if (!table.has(key)) table.error(key, "missing; expected a time, such as \"80 ms\"");
    return value.value_or(Seconds(0));
  };
  if (kind == "uniform") {
    d.kind = DistributionKind::uniform;
    d.low = time("low");
    d.high = time("high");
    if (d.high < d.low) table.error("high", "is below low");
  } else if (kind == "exponential") {
    d.kind = DistributionKind::exponential;
    d.mean = time("mean");
  } else if (kind == "normal" || kind == "lognormal") {
    d.kind = kind == "normal" ? DistributionKind::normal : DistributionKind::lognormal;
    d.mean = time("mean");
    d.deviation = time("deviation");
  } else if (!kind.empty()) {
    table.ignore_unread();
    table.error("kind", quoted(kind) + " is not one; expected uniform, normal, lognormal or " +
                            "exponential" +
                            did_you_mean(kind, {"uniform", "normal", "lognormal", "exponential"}));
  }
  if (!table.has("seed")) table.error("seed", "missing; expected a whole number, such as 1");
  d.seed = table.count("seed").value_or(0);
  return d;
}

}  // namespace

std::optional<BytesPerSecond> read_bandwidth(TableReader& table, const char* key) {
  const std::optional<BytesPerSecond> rate = table.quantity<BytesPerSecond>(key);
  if (!rate || *rate > BytesPerSecond(0)) return rate;
  table.error(key, "expected a rate above zero");
  return std::nullopt;
}

std::vector<Seconds> read_times(const Node& list, const std::string& path,
                                Diagnostics& diagnostics) {
  std::vector<Seconds> times;
  if (list.kind != Node::Kind::array || list.items.empty()) {
    diagnostics.add(list.at, path, "expected a list of times: [\"80 ms\", \"75 ms\"]");
    return {Seconds(0)};
  }
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    const Node& item = list.items[i];
    ParsedQuantity q;
    if (item.kind == Node::Kind::text) {
      q = parse_quantity(item.text, Dimension::seconds);
    } else {
      q.error = "is " + std::string(name_of(item.kind)) + ", expected a time, such as \"80 ms\"";
    }
    if (!q.error.empty()) diagnostics.add(item.at, join_index(path, i), q.error);
    times.push_back(Seconds(q.base));
  }
  return times;
}

CsvColumn read_csv_column(TableReader& table) {
  CsvColumn csv;
  csv.file = table.required_text("csv");
  csv.column = table.required_text("column");
  const std::string unit = table.text("unit").value_or("s");
  const ParsedQuantity one = parse_quantity("1 " + unit, Dimension::seconds);
  if (!one.error.empty()) table.error("unit", one.error);
  csv.unit_s = one.base;
  return csv;
}

TimeSource read_stage_time(TableReader& table, const std::string& resource) {
  std::string given;
  for (const char* way : kWays) {
    if (table.node(way) == nullptr) continue;
    if (!given.empty()) {
      table.error(way, "stands beside " + given +
                           "; expected one of time, times, bytes, op, "
                           "workload, csv, distribution");
    }
    given = way;
  }
  if (given == "time") return table.quantity<Seconds>("time").value_or(Seconds(0));
  if (given == "times")
    return read_times(*table.node("times"), table.path_of("times"), table.diagnostics());
  if (given == "bytes") return read_transfer(table, resource);
  if (given == "op" || given == "workload") return read_floor(table);
  if (given == "csv") return read_csv_column(table);
  if (given == "distribution") return read_distribution(table);
  table.error("time",
              "missing; expected how long the stage takes: time, times, bytes, op, "
              "workload, csv or distribution");
  return Seconds(0);
}

}  // namespace floorline
