// SPDX-License-Identifier: Apache-2.0
#include "model/ledger/weights_entry.hpp"

namespace floorline {

namespace {

std::string bytes_text(ByteCount bytes) {
  return bytes.count() ? std::to_string(*bytes.count()) + " B" : "more than 9.2e18 B";
}
std::string counted(std::size_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

}  // namespace

LedgerEntry weights_entry(const StoredWeights& weights, Lifetime alive) {
  LedgerEntry entry;
  entry.name = "weights";
  entry.bytes = total_bytes(weights);
  entry.alive = alive;
  entry.formula = counted(weights.tensors.size(), "tensor") + ": ";
  bool first = true;
  for (const DtypeShare& share : by_dtype(weights)) {
    entry.formula += (first ? "" : " + ") + share.dtype + " " + bytes_text(share.bytes);
    first = false;
  }
  entry.source = counted(weights.files.size(), "file") + ", headers";
  return entry;
}

std::vector<std::string> weights_notes(const StoredWeights& weights) {
  constexpr std::size_t kMostNamed = 3;
  std::vector<std::string> notes = weights.notes;
  for (const DtypeShare& share : by_dtype(weights)) {
    notes.push_back("stored as " + share.dtype + ": " +
                    counted(static_cast<std::size_t>(share.tensors), "tensor") + ", " +
                    counted(static_cast<std::size_t>(share.elements), "element") + ", " +
                    bytes_text(share.bytes));
  }
  for (const std::size_t i : largest_tensors(weights, kMostNamed)) {
    const StoredTensor& tensor = weights.tensors[i];
    notes.push_back("among the largest: " + tensor.name + " " + shape_text(tensor.shape) + " " +
                    tensor.dtype + ", " + bytes_text(tensor.bytes));
  }
  return notes;
}

}  // namespace floorline
