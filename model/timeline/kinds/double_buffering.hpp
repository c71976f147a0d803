// SPDX-License-Identifier: Apache-2.0
// Two buffers let the next tile be produced while the last is consumed: with b buffers tile i may
// be produced once tile i - b is consumed. b = 1: period = produce + consume; b >= 2:
// max(produce, consume). drain_time adds a third stage with b buffers of its own on the way out.
// Ignored: that both may share one memory's bandwidth.
#pragma once

#include <cstdint>
#include <optional>

#include "model/timeline/kinds/built_kind.hpp"

namespace floorline {

class TableReader;

struct DoubleBuffering {
  std::int64_t tiles = 100;
  std::int64_t buffers = 2;
  Seconds produce{0};
  Seconds consume{0};
  std::optional<Seconds> drain;
};

DoubleBuffering read_double_buffering(TableReader& table, std::vector<std::string>& assumptions);
BuiltKind build(const DoubleBuffering& buffering);

}  // namespace floorline
