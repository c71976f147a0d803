// SPDX-License-Identifier: Apache-2.0
#include "validation/verdict/statements.hpp"

#include "model/quantity/unit_names.hpp"

namespace floorline {

namespace {

/// Of the rows that others left out as impossible; some of them our weaker floor leaves possible.
constexpr std::int64_t kCalledPercent = 99;

Statement::Holds holds_if(bool holds) {
  return holds ? Statement::Holds::yes : Statement::Holds::no;
}

std::string of(std::int64_t part, std::int64_t whole) {
  return std::to_string(part) + " of " + std::to_string(whole);
}

Statement sound(const Judgement& judgement) {
  const GroupTally all = judgement.total();
  Statement s{"sound", "no judged row is below its floor at any residency",
              of(all.violating, all.judged) + " below", Statement::Holds::no_rows};
  if (all.judged > 0) s.holds = holds_if(all.violating == 0);
  return s;
}

Statement complete(const Judgement& judgement) {
  const GroupTally all = judgement.total();
  Statement s{"complete", "every row of a kernel on a device that has a device file is judged",
              std::to_string(judgement.not_judged_on_known_device) + " not judged",
              Statement::Holds::no_rows};
  if (all.rows > 0) s.holds = holds_if(judgement.not_judged_on_known_device == 0);
  return s;
}

Statement uniform(const Judgement& judgement) {
  std::int64_t rows = 0;
  std::int64_t below = 0;
  for (const UniformTally& tally : judgement.uniform) {
    if (tally.exception) continue;
    rows += tally.rows;
    below += tally.below;
  }
  Statement s{"uniform",
              "no balanced moe row, named exceptions aside, is below its floor by uniform routing",
              of(below, rows) + " below", Statement::Holds::no_rows};
  if (rows > 0) s.holds = holds_if(below == 0);
  return s;
}

Statement called(const Judgement& judgement) {
  const CalledTally all = judgement.total_impossible();
  Statement s{"impossible",
              "at least " + std::to_string(kCalledPercent) +
                  " % of the rows of impossible_attention.csv are below their floor",
              of(all.called, all.rows) + " called", Statement::Holds::no_rows};
  if (all.rows > 0) s.holds = holds_if(all.called * 100 >= all.rows * kCalledPercent);
  return s;
}

Statement tight(const TightnessTarget& target, const Judgement& judgement) {
  Statement s;
  s.id = "tight";
  s.text = std::string(target.gpu) + " " + std::string(name_of(target.kind)) + " " +
           std::string(target.variant) + ", " + std::string(name_of(target.size)) +
           ": median of measured / cold floor at most " + number_text(target.median, 3);
  s.found = "no rows";
  for (const TightnessGroup& group : judgement.tightness) {
    if (group.gpu != target.gpu || group.kind != target.kind || group.size != target.size ||
        group.variant != target.variant) {
      continue;
    }
    s.found = number_text(group.ratio.p50, 4) + " (" + std::to_string(group.ratio.rows) + " rows)";
    s.holds = holds_if(group.ratio.p50 <= target.median);
  }
  return s;
}

}  // namespace

std::vector<Statement> statements_of(const Judgement& judgement) {
  std::vector<Statement> all{sound(judgement), complete(judgement), called(judgement),
                             uniform(judgement)};
  for (const TightnessTarget& target : tightness_targets()) all.push_back(tight(target, judgement));
  return all;
}

}  // namespace floorline
