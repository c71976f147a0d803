// SPDX-License-Identifier: Apache-2.0
#include "validation/verdict/doubts.hpp"

namespace floorline {

namespace {

Doubt doubt_time() {
  return {"t",
          "the timed window may end before the work does (an asynchronous call, a missing "
          "synchronization) or hold fewer calls than it is divided by",
          "time 2, 4 and 8 times the calls in one window: a true time doubles with them"};
}

void add_memory(const CaseFloors& floors, bool rotated, std::vector<Doubt>& all) {
  all.push_back({"D",
                 "fewer bytes may cross than are counted: part of the tensors is never touched, "
                 "zeros or repeated data are compressed, storage is narrower than stated",
                 "read the DRAM byte counters of the run, with random data: they are D"});
  all.push_back({"B",
                 "the ceiling may be stated too low: memory clock, bus width or part number of the "
                 "device that ran",
                 "fit t = t0 + D/R over sizes above 2 S_keep (floorline calibrate --line): an R "
                 "above B with correct D refutes B"});
  if (rotated) {
    all.push_back({"W", "the rotation may touch fewer distinct bytes than it says",
                   "double the number of buffers: a cold time does not change"});
  }
  all.push_back({"S",
                 floors.caches_known ? "more may stay on chip than S_keep says"
                                     : "the caches of the device are not known",
                 "rotate over twice the bytes: what the caches gave disappears"});
}

void add_compute(std::vector<Doubt>& all) {
  all.push_back(
      {"F",
       "less work may be done than is counted: masked tiles skipped, 2:4 sparse operands, "
       "a fast algorithm (Strassen, Winograd), an early exit",
       "read the instruction counters of the unit: they are F"});
  all.push_back({"P",
                 "the unit may run at a narrower precision than stated (tf32 for fp32, narrow "
                 "accumulation), or at a clock above the highest one stated",
                 "log the SM clock during the run, and compare the result with double precision: "
                 "the error tells the precision"});
}

void add_link(std::vector<Doubt>& all) {
  all.push_back(
      {"D",
       "fewer bytes may cross the link than are counted: part of the message stays local, "
       "or the fabric reduces or multicasts",
       "read the link's byte counters of the run"});
  all.push_back({"B",
                 "the link may be wider or of a later generation than stated, or there are several",
                 "read link width and generation from the driver; fit t = t0 + D/R over message "
                 "sizes"});
}

}  // namespace

std::vector<Doubt> doubts_of(const CaseFloors& floors, bool rotated) {
  std::vector<Doubt> all;
  const AmountKind kind =
      floors.any_binding ? amount_kind(floors.any_binding->unit) : AmountKind::bytes;
  const bool memory = rotated || !floors.any_binding || floors.any_binding->unit == Unit::hbm;
  if (memory) {
    add_memory(floors, rotated, all);
  } else if (kind == AmountKind::bytes) {
    add_link(all);
  } else {
    add_compute(all);
  }
  all.push_back(doubt_time());
  return all;
}

}  // namespace floorline
