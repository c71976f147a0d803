// SPDX-License-Identifier: Apache-2.0
#include "model/workload/weights_file/stored_weights.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

namespace floorline {

namespace {

/// Saturating: no sum of counts that could be true comes near.
std::int64_t plus(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::int64_t>::max() : sum;
}

}  // namespace

ByteCount total_bytes(const StoredWeights& weights) {
  ByteCount sum;
  for (const StoredTensor& tensor : weights.tensors) sum = sum + tensor.bytes;
  return sum;
}

std::int64_t total_elements(const StoredWeights& weights) {
  std::int64_t sum = 0;
  for (const StoredTensor& tensor : weights.tensors) sum = plus(sum, tensor.elements);
  return sum;
}

std::vector<DtypeShare> by_dtype(const StoredWeights& weights) {
  std::map<std::string, DtypeShare> shares;
  for (const StoredTensor& tensor : weights.tensors) {
    DtypeShare& share = shares[tensor.dtype];
    share.dtype = tensor.dtype;
    ++share.tensors;
    share.elements = plus(share.elements, tensor.elements);
    share.bytes = share.bytes + tensor.bytes;
  }
  std::vector<DtypeShare> sorted;
  for (auto& [dtype, share] : shares) sorted.push_back(std::move(share));
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const DtypeShare& a, const DtypeShare& b) { return a.bytes > b.bytes; });
  return sorted;
}

std::vector<std::size_t> largest_tensors(const StoredWeights& weights, std::size_t most) {
  std::vector<std::size_t> all(weights.tensors.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::stable_sort(all.begin(), all.end(), [&](std::size_t a, std::size_t b) {
    return weights.tensors[a].bytes > weights.tensors[b].bytes;
  });
  if (all.size() > most) all.resize(most);
  return all;
}

bool multiply(const std::vector<std::int64_t>& shape, std::int64_t& elements) {
  elements = 1;
  bool empty = false;
  for (const std::int64_t size : shape) {
    if (size < 0) return false;
    empty = empty || size == 0;
  }
  if (empty) {
    elements = 0;
    return true;
  }
  return std::all_of(shape.begin(), shape.end(), [&](std::int64_t size) {
    return !__builtin_mul_overflow(elements, size, &elements);
  });
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  constexpr std::size_t kMostShown = 8;
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size() && i < kMostShown; ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return text + (shape.size() > kMostShown ? ", ...]" : "]");
}

}  // namespace floorline
