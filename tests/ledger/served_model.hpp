// SPDX-License-Identifier: Apache-2.0
// A model to ask ledgers about, for tests.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "model/ledger/engine_file.hpp"
#include "model/ledger/engine_pool.hpp"
#include "model/ledger/inference_ledger.hpp"
#include "model/workload/architecture_file.hpp"

namespace floorline {

/// Owns what a LedgerModel points to.
struct ServedModel {
  explicit ServedModel(const std::string& path) : architecture(load_architecture(path)) {}
  ServedModel(const ServedModel&) = delete;
  ServedModel& operator=(const ServedModel&) = delete;

  /// A symbol of the model or a setting of ledgers; false when it is neither or the value is bad.
  bool set(std::string_view name, std::string_view value) {
    std::string wrong;
    if (apply_setting(name, value, settings, wrong)) return wrong.empty();
    const SymbolResult r = apply_symbol(name, value, scenario, layout);
    return r.known && r.error.empty();
  }
  void use_engine(const std::string& name, std::string_view version = "") {
    engine = load_engine("workloads/engines/" + name + ".toml", version);
  }
  [[nodiscard]] LedgerModel model() const {
    LedgerModel m;
    m.architecture = &architecture;
    m.scenario = scenario;
    m.layout = layout;
    m.engine = &engine;
    m.settings = settings;
    return m;
  }
  [[nodiscard]] RankLedger rank(std::int64_t stage = 0) const {
    return rank_ledger(model(), stage);
  }
  /// Of one line; zero when there is none.
  [[nodiscard]] ByteCount line(std::string_view name, std::int64_t stage = 0) const {
    const RankLedger r = rank(stage);
    const LedgerEntry* entry = find_line(r.ledger, name);
    return entry == nullptr ? ByteCount(0) : entry->bytes;
  }

  Architecture architecture;
  Scenario scenario;
  ParallelLayout layout;
  EngineProfile engine;
  LedgerSettings settings;
};

}  // namespace floorline
