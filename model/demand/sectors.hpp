// SPDX-License-Identifier: Apache-2.0
// Memory moves in sectors (32 bytes on NVIDIA, 128 on AMD, 64 on CPUs): a byte that is needed costs
// its whole sector. Distinct sectors of n pieces of b bytes, one every p bytes:
//   gap p − b ≥ sector   n · ⌈b / sector⌉: no sector holds bytes of two pieces
//   else                 ⌈((n − 1)·p + b) / sector⌉: no sector of the span fits into a gap
// both for the best alignment, the least. Not modelled: pages, the larger bursts of some memories.
#pragma once

#include <algorithm>
#include <cmath>

#include "model/quantity/quantity.hpp"

namespace floorline {

struct Pieces {
  double count = 0;
  Bytes each{0};
  double stride = 1;  ///< distance of two starts, in pieces
};

inline Bytes bytes_of_sectors(const Pieces& pieces, Bytes sector) {
  if (!(pieces.count > 0) || !(pieces.each > Bytes(0))) return Bytes(0);
  const Bytes pitch = pieces.each * std::max(1.0, pieces.stride);
  const double sectors = pitch - pieces.each >= sector
                             ? pieces.count * std::ceil(pieces.each / sector)
                             : std::ceil((pitch * (pieces.count - 1) + pieces.each) / sector);
  return sector * sectors;
}

}  // namespace floorline
