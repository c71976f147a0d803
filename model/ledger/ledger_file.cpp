// SPDX-License-Identifier: Apache-2.0
#include "model/ledger/ledger_file.hpp"

#include <algorithm>
#include <utility>

#include "model/input/table_reader.hpp"
#include "model/quantity/unit_names.hpp"

namespace floorline {

namespace {

constexpr std::size_t kMostLines = 10000;

const std::vector<std::string>& evidence_names() {
  static const std::vector<std::string> kNames{"exact", "formula", "interval"};
  return kNames;
}

class LedgerReader {
 public:
  explicit LedgerReader(const Node& document) : document_(document) {}

  LedgerDocument read() {
    {
      TableReader root(document_, "", diagnostics_);
      read_head(root);
      read_phases(root);
      read_budget(root);
      read_lines(root);
    }
    diagnostics_.throw_if_any();
    return std::move(result_);
  }

 private:
  static void read_head_schema(TableReader& root) {
    const auto schema = root.count("schema");
    if (!root.has("schema")) root.error("schema", "missing; expected schema = 1");
    if (schema && *schema != 1) {
      root.error("schema", "version " + std::to_string(*schema) +
                               " is not known; this program reads schema = 1");
    }
  }

  void read_head(TableReader& root) {
    read_head_schema(root);
    root.node("kind");
    result_.name = root.text("name").value_or("");
  }

  void read_phases(TableReader& root) {
    std::vector<std::string>& phases = result_.ledger.instants;
    if (root.has("phases")) {
      phases = root.texts("phases").value_or(std::vector<std::string>{});
      if (phases.empty()) root.error("phases", "expected at least one name");
    } else {
      phases = {"together"};
    }
    if (phases.size() > Lifetime::kMaxInstants) {
      root.error("phases", "more than 64; expected fewer");
      phases.resize(Lifetime::kMaxInstants);
    }
    for (std::size_t i = 0; i < phases.size(); ++i) {
      const bool twice = std::find(phases.begin(), phases.begin() + static_cast<std::ptrdiff_t>(i),
                                   phases[i]) != phases.begin() + static_cast<std::ptrdiff_t>(i);
      if (twice) root.error("phases", quoted(phases[i]) + " is there twice");
      if (phases[i].empty()) root.error("phases", "an empty name");
    }
  }

  void read_budget(TableReader& root) {
    const auto budget = root.quantity<Bytes>("budget");
    const auto utilization = root.number("utilization");
    if (utilization && !(*utilization > 0 && *utilization <= 1)) {
      root.error("utilization", "expected a fraction above 0 and up to 1");
    }
    if (utilization && !root.has("budget")) {
      root.error("utilization", "without a budget; expected both");
    }
    if (!budget) return;
    const double share = utilization.value_or(1);
    result_.budget = Budget{whole_budget(*budget * share),
                            utilization ? to_text_binary(*budget) + " x " + exact_text(share) : ""};
    if (result_.budget->bytes.overflowed()) root.error("budget", "more than 9.2e18 bytes");
  }

  void read_lines(TableReader& root) {
    const Node* lines = root.required_node("line", "[[line]] tables");
    if (lines == nullptr) return;
    if (lines->kind != Node::Kind::array || lines->items.empty()) {
      root.error("line", "expected [[line]] tables");
      return;
    }
    if (lines->items.size() > kMostLines) {
      root.error("line", "more than " + std::to_string(kMostLines) + "; expected fewer");
      return;
    }
    for (std::size_t i = 0; i < lines->items.size(); ++i) {
      TableReader table(lines->items[i], join_index("line", i), diagnostics_);
      read_line(table);
    }
  }

  void read_line(TableReader& table) {
    LedgerEntry line;
    line.name = table.required_name("name");
    if (!line.name.empty() && find_line(result_.ledger, line.name) != nullptr) {
      table.error("name", "line " + quoted(line.name) + " is there already");
    }
    line.evidence = evidence_of(table);
    line.formula = table.text("formula").value_or("");
    line.source = table.text("source").value_or("");
    line.alive = alive_of(table);
    if (line.evidence == Evidence::interval) {
      read_interval(table, line);
    } else {
      const Node* bytes = table.required_node("bytes", "a size such as \"14 GB\"");
      const auto amount = bytes == nullptr ? std::nullopt : table.quantity<Bytes>("bytes");
      if (amount) line.bytes = whole_need(*amount);
    }
    result_.ledger.lines.push_back(std::move(line));
  }

  static Evidence evidence_of(TableReader& table) {
    const auto text = table.text("evidence");
    if (!text) return table.has("interval") ? Evidence::interval : Evidence::exact;
    const auto& names = evidence_names();
    const auto found = std::find(names.begin(), names.end(), *text);
    if (found == names.end()) {
      table.error("evidence", quoted(*text) + " is not one of exact, formula, interval" +
                                  did_you_mean(*text, names));
      return Evidence::exact;
    }
    return static_cast<Evidence>(found - names.begin());
  }

  static void read_interval(TableReader& table, LedgerEntry& line) {
    if (is_always_exact(line.name)) {
      table.error("evidence",
                  line.name + " is counted, never an interval; expected exact or formula");
    }
    const auto ends = table.texts("interval");
    if (!ends || ends->size() != 2) {
      table.error("interval", "expected two sizes, [\"0.1 GiB\", \"2.3 GiB\"]");
      return;
    }
    ByteInterval interval;
    ByteCount* const out[] = {&interval.low, &interval.high};
    for (std::size_t i = 0; i < 2; ++i) {
      const ParsedQuantity q = parse_quantity((*ends)[i], Dimension::bytes);
      if (!q.error.empty()) table.error("interval", q.error);
      *out[i] = whole_need(Bytes(q.base));
    }
    if (interval.low > interval.high) table.error("interval", "the first size is above the second");
    line.interval = interval;
    line.bytes = interval.high;
  }

  Lifetime alive_of(TableReader& table) {
    const std::vector<std::string>& phases = result_.ledger.instants;
    if (!table.has("alive")) return Lifetime::all(phases.size());
    Lifetime alive;
    const std::vector<std::string> names =
        table.texts("alive").value_or(std::vector<std::string>{});
    for (const std::string& name : names) {
      const auto found = std::find(phases.begin(), phases.end(), name);
      if (found == phases.end()) {
        table.error("alive",
                    quoted(name) + " is not one of the phases" + did_you_mean(name, phases));
      } else {
        alive = alive.with(static_cast<std::size_t>(found - phases.begin()));
      }
    }
    if (names.empty()) table.error("alive", "expected at least one of the phases");
    return alive;
  }

  const Node& document_;
  Diagnostics diagnostics_;
  LedgerDocument result_;
};

[[noreturn]] void refuse(std::string_view flag, const std::string& why) {
  throw InputError(Diagnostic{position_in("command line"), std::string(flag), why});
}

Bytes bytes_of(std::string_view text, std::string_view flag) {
  const ParsedQuantity q = parse_quantity(text, Dimension::bytes);
  if (!q.error.empty()) refuse(flag, q.error);
  return Bytes(q.base);
}

}  // namespace

bool is_ledger_document(const Node& document) {
  const Node* kind = document.find("kind");
  return kind != nullptr && kind->kind == Node::Kind::text && kind->text == "ledger";
}

LedgerDocument read_ledger(const Node& document) { return LedgerReader(document).read(); }

LedgerDocument parse_ledger(std::string_view text, std::string_view file_name) {
  return read_ledger(parse_document(text, file_name));
}

ByteCount parse_need(std::string_view text, std::string_view flag) {
  return whole_need(bytes_of(text, flag));
}

ByteCount parse_budget(std::string_view text, std::string_view flag) {
  const ByteCount budget = whole_budget(bytes_of(text, flag));
  if (budget.overflowed())
    refuse(flag, "more than 9.2e18 bytes; expected what a device could have");
  return budget;
}

LedgerEntry parse_line(std::string_view text, Lifetime alive) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    refuse("--line", quoted(text) + " is not NAME=BYTES, such as weights=14GB");
  }
  LedgerEntry line;
  line.name = std::string(text.substr(0, equals));
  if (const std::string wrong = wrong_name(line.name); !wrong.empty())
    refuse("--line", quoted(line.name) + " " + wrong);
  line.bytes = parse_need(text.substr(equals + 1), "--line " + line.name);
  line.alive = alive;
  line.source = "--line";
  return line;
}

}  // namespace floorline
