// SPDX-License-Identifier: Apache-2.0
#include "model/workload/weights_file/header_bytes.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>

namespace floorline {

namespace {

constexpr std::size_t kWindowBytes = std::size_t{1} << 18U;

}  // namespace

HeaderBytes::HeaderBytes(const std::string& path) : file_name_(path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) fail("", "it is a folder");
  if (!std::filesystem::exists(path, error)) fail("", "no such file");
  if (!std::filesystem::is_regular_file(path, error)) fail("", "expected a regular file");
  size_ = std::filesystem::file_size(path, error);
  if (error) fail("", error.message());
  opened_.reset(std::fopen(path.c_str(), "rb"));
  if (opened_ == nullptr) fail("", std::generic_category().message(errno));
}

HeaderBytes::HeaderBytes(std::string_view bytes, std::string file_name)
    : file_name_(std::move(file_name)), window_(bytes), size_(bytes.size()) {}

void HeaderBytes::fail(const std::string& key, const std::string& message) const {
  throw InputError(Diagnostic{position_in(file_name_), key, message});
}

void HeaderBytes::fail_here(const std::string& key, const std::string& message) const {
  fail(key, message + " (at byte " + std::to_string(offset_) + ")");
}

void HeaderBytes::need(std::uint64_t count, const char* what) const {
  if (count <= left()) return;
  fail_here("", "the file ends within " + std::string(what) + ": " + std::to_string(count) +
                    " bytes expected, " + std::to_string(left()) + " left");
}

void HeaderBytes::copy(char* to, std::size_t count) {
  while (count > 0) {
    const bool inside = offset_ >= window_at_ && offset_ < window_at_ + window_.size();
    if (!inside) {
      if (opened_ == nullptr) fail_here("", "cannot be read");
      buffer_.resize(kWindowBytes);
      const bool moved = fseeko(opened_.get(), static_cast<off_t>(offset_), SEEK_SET) == 0;
      const std::size_t got =
          moved ? std::fread(buffer_.data(), 1, buffer_.size(), opened_.get()) : 0;
      if (got == 0) fail_here("", "cannot be read");
      window_ = std::string_view(buffer_).substr(0, got);
      window_at_ = offset_;
    }
    const auto from = static_cast<std::size_t>(offset_ - window_at_);
    const std::size_t part = std::min(count, window_.size() - from);
    std::copy_n(window_.data() + from, part, to);
    to += part;
    count -= part;
    offset_ += part;
  }
}

std::uint32_t HeaderBytes::u32(const char* what) {
  std::array<char, sizeof(std::uint32_t)> bytes{};
  need(bytes.size(), what);
  copy(bytes.data(), bytes.size());
  std::uint32_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    value = (value << 8U) | static_cast<unsigned char>(bytes[i]);
  }
  return value;
}

std::uint64_t HeaderBytes::u64(const char* what) {
  need(sizeof(std::uint64_t), what);
  const std::uint64_t low = u32(what);
  return low | (std::uint64_t{u32(what)} << 32U);
}

std::string HeaderBytes::text(std::uint64_t count, const char* what) {
  need(count, what);
  std::string bytes(static_cast<std::size_t>(count), '\0');
  copy(bytes.data(), bytes.size());
  return bytes;
}

void HeaderBytes::skip(std::uint64_t count, const char* what) {
  need(count, what);
  offset_ += count;
}

}  // namespace floorline
