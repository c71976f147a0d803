// SPDX-License-Identifier: Apache-2.0
// Kinds that only move bytes.
//   embedding   reads the token ids and the distinct table rows, writes one row a token. The data
//               decide how many rows are distinct; the least is 1 (design §4). A naive count reads
//               the whole table.
//   copy        d2d: read once, written once in HBM. h2d: the bytes cross the link towards the
//               device and are written to HBM; nothing is read from HBM (naive counts do). d2h:
//               read from HBM, cross the link; nothing is written to HBM.
// Not modelled: latency of small copies, pageable staging (expectations, timelines).
#include <algorithm>

#include "model/demand/operator_view.hpp"

namespace floorline {

/// Input 0 is the ids; the table follows.
double embedding_read_fraction(const OperatorView& op) {
  if (op.input_count() < 2) return 1;
  const BoundTensor& table = op.input(1);
  const double rows = op.key(Key::rows, table.elements / std::max(1.0, table.last_dim));
  const double distinct = std::min({op.key(Key::distinct, 1), rows, op.input(0).elements});
  return rows > 0 ? distinct / rows : 1;
}

void copy_demand(const OperatorView& op, Demand& demand) {
  const CopyPath path = op.op().path;
  if (path == CopyPath::h2d) {
    demand.add({Unit::h2d}, Amount(demand.hbm_read));
    demand.hbm_read = Bytes(0);
  } else if (path == CopyPath::d2h) {
    demand.add({Unit::d2h}, Amount(demand.hbm_write));
    demand.hbm_write = Bytes(0);
  }
}

}  // namespace floorline
