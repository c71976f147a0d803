// SPDX-License-Identifier: Apache-2.0
// A measured row as an operator graph of the engine. A Reading says which operator the row's words
// stand for (storage and compute precision, value head, mask); plain_reading() takes the columns at
// their face, verdict/reading_rules.hpp corrects it where a collector means something else.
// One graph is built for each combination of precisions and rebound for each row; demand and floors
// are the engine's own, so there is no second set of formulas. A mixture of experts is two grouped
// products, fused; what it reads and computes is that of the mean rank of its group.
// Not modelled: RoPE and the KV-cache write that some attention rows include, scales of quantized
// operands, barriers of collectives, choosing experts. Each would only raise a floor.
// Serving rows are no graph of their own: verdict/serving_steps.hpp.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "model/demand/demand.hpp"
#include "model/device/on_chip.hpp"
#include "model/floor/graph_floor.hpp"
#include "model/workload/bound_graph.hpp"
#include "model/workload/graph.hpp"
#include "model/workload/routing.hpp"
#include "validation/observation/measured_rows.hpp"

namespace floorline {

struct Reading {
  Precision in = Precision::bf16;      ///< storage of x, of Q
  Precision second = Precision::bf16;  ///< storage of the weight, of K and V
  Precision out = Precision::bf16;
  Precision compute = Precision::bf16;  ///< accumulation is not recorded: the fastest that there is
  Precision otherwise = Precision::none;  ///< compute on a device that has no such unit
  std::int64_t v_dim = 0;                 ///< of attention
  bool gated = true;                      ///< experts: three matrices, else two
  Routing routing = Routing::least;
  /// Attention within chunks of `window` keys instead of a window that slides.
  bool chunked = false;
  /// The fabric may add for an all_reduce.
  bool fabric_reduces = false;
  /// Of a message: need not cross while the kernel that was timed runs.
  Bytes buffered{0};
  Seconds resolution{0};      ///< the true time may be longer by less than this
  bool one_sequence = false;  ///< serving: how many decode together is not known
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
    GraphFloors floors;          ///< where a row is several operators
  };
  Prepared& prepared(const Shape& shape);

  std::map<std::uint64_t, Prepared> prepared_;
};

}  // namespace floorline
