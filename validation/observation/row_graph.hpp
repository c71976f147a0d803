// SPDX-License-Identifier: Apache-2.0
// A measured row as an operator graph of the engine. A Reading says which operator the row's words
// stand for (storage and compute precision, value head, mask); plain_reading() takes the columns at
// their face, verdict/reading_rules.hpp corrects it where a collector means something else.
// One graph is built for each combination of precisions and rebound for each row; demand and floors
// are the engine's own, so there is no second set of formulas.
// Not modelled: RoPE and the KV-cache write that some attention rows include, scales of quantized
// operands, barriers of collectives. Each would only raise a floor.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "model/demand/demand.hpp"
#include "model/device/on_chip.hpp"
#include "model/workload/bound_graph.hpp"
#include "model/workload/graph.hpp"
#include "validation/observation/measured_rows.hpp"

namespace floorline {

struct Reading {
  Precision in = Precision::bf16;      ///< storage of x, of Q
  Precision second = Precision::bf16;  ///< storage of the weight, of K and V
  Precision out = Precision::bf16;
  Precision compute = Precision::bf16;  ///< accumulation is not recorded: the fastest that there is
  std::int64_t v_dim = 0;               ///< of attention
  /// Attention within chunks of `window` keys instead of a window that slides.
  bool chunked = false;
  /// The fabric may add for an all_reduce, where the device says that it can.
  bool fabric_reduces = false;
};
Reading plain_reading(const RowKeys& keys);

class RowGraphs {
 public:
  /// What the row asks of each resource; absent when no operator has such sizes.
  std::optional<Demand> demand(const RowKeys& keys, const Reading& reading, const OnChip& chip);

 private:
  struct Shape;
  struct Prepared {
    OperatorGraph graph;
    BoundGraph bound;
    std::vector<double> values;  ///< by symbol slot
  };
  Prepared& prepared(const Shape& shape);

  std::map<std::uint64_t, Prepared> prepared_;
};

}  // namespace floorline
