// SPDX-License-Identifier: Apache-2.0
// Kinds that touch parts of a tensor which an index or a stride picks. The data decide how many
// rows are distinct; the least is 1 (design §4), a number from the user (`distinct`) replaces it.
//   gather   reads the indices and the sectors of the distinct rows, writes one row an index
//   scatter  reads the indices, writes the sectors of the distinct rows. A row that a later one
//            overwrites need not be read: as many source rows as distinct ones. With flops > 0
//            every row is added to the table: all sources and the touched part of the table are
//            read, F = flops · elements of the source
//   elementwise with stride s or access = random: sectors of n elements, or of the distinct ones
// Distinct rows lie `stride` rows apart (1: next to each other, the least).
// A naive "inputs + outputs" count reads or writes the whole table, and counts elements where whole
// sectors move: 4-byte elements 32 bytes apart cost eight times their size.
// Not modelled: expected distinct rows of random indices (an expectation, not a floor).
#include <algorithm>

#include "model/demand/operator_view.hpp"
#include "model/demand/sectors.hpp"

namespace floorline {

namespace {

/// Distinct rows that `indices` can name.
double distinct_rows(const OperatorView& op, const BoundTensor& table) {
  const double rows = op.key(Key::rows, table.elements / std::max(1.0, table.last_dim));
  const double indices = op.key(Key::count, op.input(0).elements);
  return std::min({op.key(Key::distinct, 1), rows, indices});
}

Bytes touched(const OperatorView& op, const BoundTensor& table, Bytes sector) {
  const double cols = op.key(Key::cols, table.last_dim);
  const Bytes row(cols * storage_bits(table.dtype) / 8.0);
  return bytes_of_sectors({distinct_rows(op, table), row, op.key(Key::stride, 1)}, sector);
}

}  // namespace

double gather_read_fraction(const OperatorView& op, Bytes sector) {
  if (op.input_count() < 2 || !(op.input(1).bytes > Bytes(0))) return 1;
  return touched(op, op.input(1), sector) / op.input(1).bytes;
}

double scatter_read_fraction(const OperatorView& op) {
  const bool adds = op.key(Key::flops, 0) > 0;
  if (adds || op.input_count() < 2 || op.output_count() < 1) return 1;
  const double indices = op.key(Key::count, op.input(0).elements);
  return indices > 0 ? distinct_rows(op, op.output(0)) / indices : 1;
}

void scatter_demand(const OperatorView& op, const OnChip& chip, Demand& demand) {
  if (op.output_count() < 1) return;
  demand.hbm_write = touched(op, op.output(0), chip.sector);
  const double flops = op.key(Key::flops, 0);
  if (!(flops > 0)) return;
  demand.hbm_read += demand.hbm_write;
  double elements = 0;
  for (int i = 1; i < op.input_count(); ++i) elements += op.input(i).elements;
  demand.flops = Flops(flops * elements);
  demand.add(op.vector_unit(), Amount(demand.flops));
}

Bytes elementwise_read_bytes(const OperatorView& op, int i, Bytes sector) {
  const BoundTensor& tensor = op.input(i);
  const double stacked = op.input_count() == 1 ? std::max(1.0, op.key(Key::reads, 1)) : 1;
  Pieces pieces{tensor.elements / stacked, Bytes(storage_bits(tensor.dtype) / 8.0),
                op.key(Key::stride, 1)};
  if (op.op().access == Access::random) {
    pieces = {std::min(op.key(Key::distinct, 1), pieces.count), pieces.each, 1};
  }
  return bytes_of_sectors(pieces, sector) * stacked;
}

}  // namespace floorline
