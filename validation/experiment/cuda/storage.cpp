// SPDX-License-Identifier: Apache-2.0
#include "validation/experiment/cuda/storage.hpp"

#include <cstring>

namespace floorline::cuda {

namespace {

template <class T>
std::vector<std::byte> stored(const std::vector<float>& values) {
  std::vector<T> elements(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) elements[i] = bodies::Store<T>::from(values[i]);
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), elements.data(), bytes.size());
  return bytes;
}

template <class T>
std::vector<double> loaded(const std::vector<std::byte>& bytes) {
  std::vector<T> elements(bytes.size() / sizeof(T));
  if (!elements.empty()) std::memcpy(elements.data(), bytes.data(), elements.size() * sizeof(T));
  std::vector<double> values(elements.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<double>(bodies::to_float(elements[i]));
  }
  return values;
}

}  // namespace

bool can_store(Precision precision) {
  return precision == Precision::fp64 || precision == Precision::fp32 ||
         precision == Precision::tf32 || precision == Precision::fp16 ||
         precision == Precision::bf16;
}

std::size_t size_of(Precision precision) {
  return with_storage(precision, [](auto element) { return sizeof(element); });
}

std::vector<std::byte> to_storage(const std::vector<float>& values, Precision precision) {
  return with_storage(precision, [&](auto element) { return stored<decltype(element)>(values); });
}

std::vector<double> from_storage(const std::vector<std::byte>& bytes, Precision precision) {
  return with_storage(precision, [&](auto element) { return loaded<decltype(element)>(bytes); });
}

}  // namespace floorline::cuda
