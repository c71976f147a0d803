// SPDX-License-Identifier: Apache-2.0
#include "model/ledger/ledger_solve.hpp"

#include <array>

#include "model/input/diagnostic.hpp"
#include "model/workload/model_graph.hpp"

namespace floorline {

namespace {

constexpr std::array<std::string_view, 5> kNames{"batch", "context", "concurrency", "layers", "tp"};
constexpr std::int64_t kMostLayers = std::int64_t{1} << 20U;
constexpr std::int64_t kMost = std::int64_t{1} << 50U;
constexpr std::int64_t kMostTp = 1024;

struct Range {
  std::int64_t least;
  std::int64_t most;
};

Range range_of(const LedgerModel& model, SolveFor what) {
  switch (what) {
    case SolveFor::context:
      return {0, kMost};
    case SolveFor::layers:
      return {model.layout.pp, kMostLayers};
    case SolveFor::tp:
      return {1, kMostTp};
    case SolveFor::batch:
    case SolveFor::concurrency:
      break;
  }
  return {1, kMost};
}

LedgerModel with(const LedgerModel& model, SolveFor what, std::int64_t value) {
  LedgerModel changed = model;
  changed.told = false;
  switch (what) {
    case SolveFor::batch:
      changed.scenario.batch = value;
      break;
    case SolveFor::context:
      changed.scenario.context = value;
      break;
    case SolveFor::concurrency:
      changed.settings.concurrency = value;
      break;
    case SolveFor::layers:
      changed.layers = value;
      break;
    case SolveFor::tp:
      changed.layout.tp = value;
      break;
  }
  return changed;
}

class Search {
 public:
  Search(const LedgerModel& model, const MemoryTotal& total, SolveFor what)
      : model_(model), total_(total), budget_(budget_of(*model.engine, total)), what_(what) {}

  LedgerSolution run() { return what_ == SolveFor::tp ? smallest_tp() : largest(); }

 private:
  [[nodiscard]] ByteCount need(std::int64_t value) const {
    const LedgerModel changed = with(model_, what_, value);
    return peak_of(worst_rank(engine_ledgers(changed, total_)).ledger).bytes;
  }
  [[nodiscard]] bool fits(ByteCount bytes) const { return headroom(bytes, budget_).fits; }

  LedgerSolution largest() {
    LedgerSolution found;
    found.what = what_;
    Range range = range_of(model_, what_);
    found.need = need(range.least);
    if (!fits(found.need)) return found;
    if (fits(need(range.most))) {
      found.value = range.most;
      found.unlimited = true;
      return found;
    }
    // range.least fits, range.most does not.
    while (range.most - range.least > 1) {
      const std::int64_t middle = range.least + (range.most - range.least) / 2;
      (fits(need(middle)) ? range.least : range.most) = middle;
    }
    found.value = range.least;
    found.need = need(range.least);
    found.next_need = need(range.most);
    return found;
  }

  [[nodiscard]] bool allowed(std::int64_t tp) const {
    Diagnostics wrong;
    const LedgerModel changed = with(model_, what_, tp);
    check_model(*changed.architecture, changed.scenario, changed.layout, wrong);
    return wrong.empty();
  }

  LedgerSolution smallest_tp() {
    LedgerSolution found;
    found.what = what_;
    std::optional<ByteCount> before;
    for (std::int64_t tp = 1; tp <= kMostTp; ++tp) {
      if (!allowed(tp)) continue;
      found.need = need(tp);
      if (fits(found.need)) {
        found.value = tp;
        found.next_need = before;
        return found;
      }
      before = found.need;
    }
    return found;
  }

  const LedgerModel& model_;
  const MemoryTotal& total_;
  Budget budget_;
  SolveFor what_;
};

}  // namespace

std::string_view name_of(SolveFor what) { return kNames[static_cast<std::size_t>(what)]; }

std::optional<SolveFor> solve_for(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<SolveFor>(i);
  }
  return std::nullopt;
}

LedgerSolution solve(const LedgerModel& model, const MemoryTotal& total, SolveFor what) {
  return Search(model, total, what).run();
}

}  // namespace floorline
