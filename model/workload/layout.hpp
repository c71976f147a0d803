// SPDX-License-Identifier: Apache-2.0
// How a model is spread over devices. `ranks` is all of them; amounts elsewhere are per rank.
#pragma once

#include <cstdint>

namespace floorline {

struct ParallelLayout {
  std::int64_t tp = 1;  ///< tensor parallel: every matrix divided
  std::int64_t pp = 1;  ///< pipeline parallel: layers divided into stages
  std::int64_t ep = 1;  ///< expert parallel
  std::int64_t dp = 1;  ///< replicas; the batch is that of one
  std::int64_t cp = 1;  ///< context parallel

  [[nodiscard]] std::int64_t ranks() const { return tp * pp * dp * cp; }
};

}  // namespace floorline
