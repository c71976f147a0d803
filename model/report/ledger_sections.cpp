// SPDX-License-Identifier: Apache-2.0
#include "model/report/ledger_sections.hpp"

#include "model/quantity/unit_names.hpp"

namespace floorline {

namespace {

std::string grouped(std::int64_t n) {
  const std::string text = bytes_text(ByteCount(n));
  return text.substr(0, text.find(' '));
}

template <class T, class ToText>
std::string range_text(const T& low, const T& high, ToText text) {
  return low == high ? text(low) : text(low) + " to " + text(high);
}

std::string times_text(double factor) {
  constexpr int kDigits = 4;
  return factor == 0 ? "0x" : number_text(factor, kDigits) + "x";
}

Json end_json(const PoolEnd& end) {
  Json json = Json::object();
  json.set("available_bytes", json_of(end.available));
  json.set("blocks", end.blocks);
  json.set("kv_tokens", end.tokens);
  json.set("max_concurrency", end.concurrency);
  json.set("longest_request_tokens", end.longest);
  json.set("suggested_max_len", end.longest_any ? Json(*end.longest_any) : Json());
  return json;
}

std::string longest_text(std::optional<std::int64_t> n) {
  return n ? grouped(*n) + " tokens" : "no limit";
}

std::string signed_text(ByteCount before, ByteCount after) {
  const ByteCount difference = after - before;
  if (difference.overflowed()) return "-";
  if (difference == ByteCount(0)) return "0";
  return (difference > ByteCount(0) ? "+" : "") + gib_text(difference);
}

}  // namespace

Json pool_json(const EnginePool& pool) {
  Json json = Json::object();
  json.set(
      "weights_bytes",
      Json::object().set("low", json_of(pool.weights.low)).set("high", json_of(pool.weights.high)));
  json.set("block_tokens", pool.block);
  json.set("block_bytes", json_of(pool.block_bytes));
  json.set("groups", pool.groups);
  json.set("max_len", pool.max_len);
  json.set("low", end_json(pool.low));
  json.set("high", end_json(pool.high));
  json.set("request_bytes", Json::object()
                                .set("ideal", json_of(pool.ideal.sum()))
                                .set("engine", json_of(pool.engine.sum())));
  json.set("need_bytes", json_of(pool.need));
  return json;
}

Section pool_section(const LedgerReport& report, const EnginePool& pool) {
  Section section;
  section.title = "Beside the engine's own log (" + report.engine + ")";
  const auto field = [&section](const char* name, std::string value) {
    section.fields.push_back({name, std::move(value)});
  };
  const PoolEnd& low = pool.low;
  const PoolEnd& high = pool.high;
  field("weights", range_text(pool.weights.low, pool.weights.high, gib_text) + " GiB");
  field("available for the cache", range_text(low.available, high.available, gib_text) + " GiB");
  field("blocks", range_text(low.blocks, high.blocks, grouped) + " of " + grouped(pool.block) +
                      " tokens, " + bytes_text(pool.block_bytes) + " each" +
                      (pool.groups > 1 ? ", " + grouped(pool.groups) + " groups" : ""));
  field("KV tokens", range_text(low.tokens, high.tokens, grouped));
  field("max concurrency", range_text(low.concurrency, high.concurrency, times_text) + " of " +
                               grouped(pool.max_len) + " tokens");
  field("longest request", range_text(low.longest, high.longest, grouped) + " of " +
                               grouped(pool.max_len) + " tokens" +
                               (low.longest < pool.max_len ? ": THE ENGINE MAY NOT START" : ""));
  field("longest without that limit", range_text(low.longest_any, high.longest_any, longest_text));
  field("one longest request", gib_text(pool.engine.sum()) + " GiB as the engine lays it out, " +
                                   gib_text(pool.ideal.sum()) + " GiB ideal");
  field("this scenario needs", gib_text(pool.need) + " GiB of it");
  return section;
}

Json solution_json(const LedgerSolution& solution) {
  Json json = Json::object();
  json.set("what", name_of(solution.what));
  json.set("value", solution.value ? Json(*solution.value) : Json());
  json.set("unlimited", solution.unlimited);
  json.set("peak_bytes", json_of(solution.need));
  json.set("next_peak_bytes", solution.next_need ? json_of(*solution.next_need) : Json());
  return json;
}

Section solution_section(const LedgerReport& report, const LedgerSolution& solution) {
  Section section;
  const bool smallest = solution.what == SolveFor::tp;
  const std::string what(name_of(solution.what));
  section.title = (smallest ? "Smallest " : "Largest ") + what + " that fits";
  const auto field = [&section](std::string name, std::string value) {
    section.fields.push_back({std::move(name), std::move(value)});
  };
  if (!solution.value) {
    field(what, "none fits: the " + std::string(smallest ? "largest" : "least") + " needs " +
                    gib_text(solution.need) + " GiB");
    return section;
  }
  if (solution.unlimited) {
    field(what, "no limit found up to " + grouped(*solution.value));
    return section;
  }
  field(what, grouped(*solution.value) + ", with a peak of " + bytes_text(solution.need) + " (" +
                  gib_text(solution.need) + " GiB)");
  if (solution.next_need) {
    field(smallest ? "the next smaller" : "one more", "needs " + bytes_text(*solution.next_need) +
                                                          " (" + gib_text(*solution.next_need) +
                                                          " GiB)");
  }
  const std::int64_t positions = report.max_positions;
  if (solution.what == SolveFor::context && positions > 0 && *solution.value > positions) {
    section.lines.push_back("The model knows " + grouped(positions) +
                            " positions; memory is not what limits its context.");
  }
  return section;
}

Json ranks_json(const std::vector<RankSummary>& ranks) {
  Json list = Json::array();
  for (const RankSummary& rank : ranks) {
    list.push(Json::object()
                  .set("stage", rank.stage + 1)
                  .set("stages_alike", rank.stages)
                  .set("peak_bytes", json_of(rank.peak))
                  .set("at", rank.at)
                  .set("worst", rank.worst));
  }
  return list;
}

Table rank_table(const std::vector<RankSummary>& ranks) {
  Table table;
  table.title = "Ranks, a pipeline stage each";
  table.columns = {{"stages", false, true}, {"GiB", true}, {"at", false}, {"", false}};
  for (const RankSummary& rank : ranks) {
    std::string name = grouped(rank.stage + 1);
    if (rank.stages > 1) name += " to " + grouped(rank.stage + rank.stages);
    table.rows.push_back({name, gib_text(rank.peak), rank.at, rank.worst ? "worst" : ""});
  }
  return table;
}

Section comparison_section(const LedgerReport& before, const LedgerReport& after) {
  Section section;
  section.title = "Before and after: " + after.changed;
  Table table;
  table.columns = {
      {"line", false, true}, {"before, GiB", true}, {"after, GiB", true}, {"change", true}};
  const auto row = [&](const std::string& name, ByteCount from, ByteCount to) {
    table.rows.push_back({name, gib_text(from), gib_text(to), signed_text(from, to)});
  };
  for (const LedgerEntry& line : before.ledger.lines) {
    const LedgerEntry* other = find_line(after.ledger, line.name);
    row(line.name, line.bytes, other == nullptr ? ByteCount(0) : other->bytes);
  }
  for (const LedgerEntry& line : after.ledger.lines) {
    if (find_line(before.ledger, line.name) == nullptr) row(line.name, ByteCount(0), line.bytes);
  }
  const Peak from = peak_of(before.ledger);
  const Peak to = peak_of(after.ledger);
  table.totals = {"peak", gib_text(from.bytes), gib_text(to.bytes),
                  signed_text(from.bytes, to.bytes)};
  section.tables.push_back(std::move(table));
  const auto verdict = [](const LedgerReport& report) -> std::string {
    if (!report.budget) return "no budget";
    const Headroom room = headroom(peak_of(report.ledger).bytes, *report.budget);
    if (!room.remaining) return "does not fit";
    const ByteCount left(*room.remaining);
    return room.fits ? "fits, " + gib_text(left) + " GiB remain"
                     : "exceeds by " + bytes_text(ByteCount(-*room.remaining));
  };
  section.fields.push_back({"before", verdict(before)});
  section.fields.push_back({"after", verdict(after)});
  return section;
}

}  // namespace floorline
