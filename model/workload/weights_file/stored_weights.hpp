// SPDX-License-Identifier: Apache-2.0
// What a file of weights stores, tensor by tensor, as its header says: exact bytes, no data read.
// What an engine does with them after loading (packing, padding, casts) is not in the file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/quantity/byte_count.hpp"

namespace floorline {

struct StoredTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::string dtype;  ///< as the format calls it: "BF16", "Q4_K"
  std::int64_t elements = 0;
  ByteCount bytes;
};

struct StoredWeights {
  std::vector<std::string> files;
  std::vector<StoredTensor> tensors;  ///< in the order of the files
  std::vector<std::string> notes;
};

struct DtypeShare {
  std::string dtype;
  std::int64_t tensors = 0;
  std::int64_t elements = 0;
  ByteCount bytes;
};

ByteCount total_bytes(const StoredWeights& weights);
/// Elements of all tensors: parameters, and scales where a format stores them as tensors.
std::int64_t total_elements(const StoredWeights& weights);
/// Largest first.
std::vector<DtypeShare> by_dtype(const StoredWeights& weights);
/// Indices of the largest tensors, largest first.
std::vector<std::size_t> largest_tensors(const StoredWeights& weights, std::size_t most);

/// The product of all sizes; false when one is negative or the product is beyond 63 bits.
bool multiply(const std::vector<std::int64_t>& shape, std::int64_t& elements);
std::string shape_text(const std::vector<std::int64_t>& shape);

}  // namespace floorline
