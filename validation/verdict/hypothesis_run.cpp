// SPDX-License-Identifier: Apache-2.0
#include "validation/verdict/hypothesis_run.hpp"

namespace floorline {

namespace {

std::vector<const Observation*> observations(const HypothesisRun& run) {
  std::vector<const Observation*> all;
  for (const CaseRun* c : {&run.baseline, &run.variant}) {
    for (const auto* o : {&c->observed.time, &c->observed.second, &c->observed.hbm_bytes}) {
      if (*o) all.push_back(&**o);
    }
  }
  return all;
}

}  // namespace

EvidenceClass evidence_of(const HypothesisRun& run) {
  const auto all = observations(run);
  if (all.empty()) return EvidenceClass::mechanism;
  for (const Observation* o : all) {
    if (o->evidence == EvidenceClass::mechanism) return EvidenceClass::mechanism;
  }
  for (const Observation* o : all) {
    const bool samples = o->evidence == EvidenceClass::measured && o->summary.count > 0;
    if (!samples || o->machine.device.empty()) return EvidenceClass::typed;
  }
  return EvidenceClass::measured;
}

std::string standing_of(const HypothesisRun& run) {
  const auto all = observations(run);
  switch (evidence_of(run)) {
    case EvidenceClass::mechanism:
      return "This proves nothing about a GPU: it is a calculation, and nothing was measured.";
    case EvidenceClass::typed:
      return "This proves nothing about a GPU: the times were typed in, and no device was measured "
             "here.";
    case EvidenceClass::measured:
      break;
  }
  const MeasuredOn& on = all.front()->machine;
  if (on.backend == "cuda") {
    return "Measured on " + on.device + (on.driver.empty() ? "" : ", driver " + on.driver) + ".";
  }
  return "This proves nothing about a GPU: it was measured on " + on.device + ", by the " +
         on.backend + " backend.";
}

}  // namespace floorline
