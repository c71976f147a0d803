// SPDX-License-Identifier: Apache-2.0
// What the engine says of one case of a hypothesis: its counted work and bytes, the cold floor and
// its terms, and the time at any residency that ceilings alone prove. Best-seen rates are kept
// apart: beating them refutes the probe first.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/evaluate.hpp"
#include "model/evaluate_model.hpp"
#include "validation/hypothesis/hypothesis.hpp"

namespace floorline {

/// One resource's demand over its rate, cold.
struct LimitTerm {
  ResourceId resource;
  Amount amount;
  AmountPerSecond rate;  ///< the one that gave the time
  Seconds time{0};
  RateKind kind = RateKind::ceiling;
  bool proven = true;  ///< false: no ceiling is known; a nominal rate stands in
  std::string how;     ///< when the rate is not simply that of the unit: what gives it
};

struct CaseFloors {
  Flops work{0};
  Bytes hbm_counted{0};  ///< read and written once each
  Seconds cold{0};
  std::optional<ResourceId> binding;  ///< of the cold floor; absent: no work with a rate
  std::vector<LimitTerm> terms;       ///< by time, largest first
  std::vector<LimitTerm> observed;    ///< of rates that were only observed: no floors
  Seconds any_ceiling{0};             ///< any residency, ceilings alone
  std::optional<ResourceId> any_binding;
  Seconds any_best_seen{0};  ///< any residency, ceilings and best-seen rates
  bool caches_known = false;
  Bytes keep{0};                           ///< S_keep
  std::optional<BytesPerSecond> hbm_rate;  ///< fast end
  RateKind hbm_kind = RateKind::ceiling;

  [[nodiscard]] const LimitTerm* term(ResourceId resource) const;
};

CaseFloors case_floors(const Evaluation& evaluation, const Machine& machine,
                       KernelSchedule schedule);
/// Of a model's step (of generate: of the request), where stages and the judging floors are known.
CaseFloors case_floors(const Evaluation& evaluation, const ModelFloors& model,
                       const Machine& machine, KernelSchedule schedule);

}  // namespace floorline
