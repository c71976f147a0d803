// SPDX-License-Identifier: Apache-2.0
// Measured rows against the floors of the engine. Sound: floor at any residency ≤ measured time,
// for every row; a row below it is a violation, and F, D, P, B, the reading or the time is wrong.
// Residency: a graph of one attention call is launched again and again without overlap, so only
// S_keep survives from one to the next; the graphs of products hold several calls, which dependent
// launch may overlap, so S_all is taken there (README of the data, "What a time includes").
// Vidur's kernels run one after another without dependent launch: S_keep. A serving step is one
// graph: S_all. Rows of experts count the least that data could cause; balanced ones are held
// against uniform routing as well, which never makes a row impossible.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/floor/floor.hpp"
#include "validation/observation/measured_folder.hpp"
#include "validation/observation/row_graph.hpp"
#include "validation/verdict/machines.hpp"
#include "validation/verdict/reading_rules.hpp"
#include "validation/verdict/row_verdict.hpp"
#include "validation/verdict/serving_steps.hpp"
#include "validation/verdict/tightness.hpp"

namespace floorline {

Residency residency_of(RowKind kind);

/// A row named in the output.
struct ListedRow {
  std::string place;  ///< "h100_sxm/gemm.csv.gz:17"
  std::string gpu, source, keys;
  Seconds time{0};
  Seconds floor{0};
  std::string binding;  ///< resource id
  std::string reason;
};

struct GroupTally {
  std::int64_t rows = 0, judged = 0, violating = 0, warm = 0;
  double closest = 0;  ///< least measured / floor at any residency
};

struct RuleTally {
  const ReadingRule* rule = nullptr;
  std::int64_t rows = 0, violating = 0;
  std::int64_t violating_without = 0;  ///< if the rule were left out
};

struct CalledTally {
  std::int64_t rows = 0, called = 0;
};

/// Balanced rows of experts against uniform routing at any residency.
struct UniformTally {
  std::string_view id, rows_text;
  bool exception = false;  ///< known to be not balanced (README of the data)
  std::int64_t rows = 0, below = 0, below_cold = 0;
  double closest = 0;            ///< least measured / floor
  std::vector<double> ratios{};  ///< measured / cold floor, unsorted
  Percentiles ratio{};           ///< of these
};

/// Something that must hold, what was found, and whether it does.
struct Statement {
  enum class Holds : std::uint8_t { yes, no, no_rows };
  std::string id, text, found;
  Holds holds = Holds::no_rows;
};

struct Judgement {
  using GroupKey = std::pair<std::string, RowKind>;  ///< gpu column, kind
  std::map<GroupKey, GroupTally> groups;
  std::vector<RuleTally> rules;
  std::vector<UniformTally> uniform;
  std::vector<ListedRow> violations;               ///< at most kMaxListed
  std::map<std::string, std::int64_t> not_judged;  ///< by reason
  std::int64_t not_judged_on_known_device = 0;     ///< of kernels
  std::int64_t serving_not_judged = 0;
  std::map<GroupKey, CalledTally> impossible;
  std::vector<ListedRow> not_called;  ///< of impossible_attention.csv
  std::vector<TightnessGroup> tightness;
  std::vector<std::string> other_files;
  std::vector<Statement> statements;

  [[nodiscard]] GroupTally total() const;
  [[nodiscard]] CalledTally total_impossible() const;
  [[nodiscard]] bool holds() const;
};
inline constexpr std::size_t kMaxListed = 1000;

class Judge {
 public:
  /// `models`: folder of the configurations of served models.
  explicit Judge(DevicePath path, std::string models = {});
  RowVerdict verdict(const RowKeys& keys, const ReadingRule* left_out = nullptr,
                     Routing routing = Routing::least);
  /// `name` stands in the places of listed rows.
  void add(const CsvTable& table, const MeasuredFile& file);
  void add_other_files(std::vector<std::string> names) { result_.other_files = std::move(names); }
  [[nodiscard]] Judgement finish();

 private:
  void add_measured(const MeasuredRow& row, const std::string& place);
  void add_impossible(const MeasuredRow& row, const std::string& place);
  void count_rules(const MeasuredRow& row, const OnChip& chip, bool violating);
  void count_uniform(const MeasuredRow& row);
  RowVerdict judged(const RowKeys& keys, const Reading& reading, const Machine& machine);
  void refuse(std::string_view gpu, RowKind kind, const std::string& reason);
  std::string why_below(const MeasuredRow& row, const RowVerdict& found);
  std::string why_not_called(const MeasuredRow& row, const RowVerdict& found);

  Machines machines_;
  RowGraphs graphs_;
  ServingSteps serving_;
  Tightness tightness_;
  Judgement result_;
};

/// All of a folder. Throws InputError.
Judgement judge_folder(const MeasuredFolder& folder, DevicePath path, std::string models = {});

}  // namespace floorline
