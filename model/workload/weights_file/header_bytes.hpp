// SPDX-License-Identifier: Apache-2.0
// The bytes of a binary header, read as they are asked for: a window of the file in memory, never
// the whole. Integers are little-endian. Reading past the end, or more at once than a limit, is an
// InputError that names the byte offset.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "model/input/diagnostic.hpp"

namespace floorline {

class HeaderBytes {
 public:
  /// Opens a file; a missing or unreadable one, or a folder, is an InputError.
  explicit HeaderBytes(const std::string& path);
  /// Bytes in memory, for tests; `bytes` must outlive this.
  HeaderBytes(std::string_view bytes, std::string file_name);

  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  [[nodiscard]] std::uint64_t left() const { return size_ - offset_; }
  [[nodiscard]] const std::string& file() const { return file_name_; }

  std::uint32_t u32(const char* what);
  std::uint64_t u64(const char* what);
  /// `count` bytes; the caller has compared `count` with what is sensible.
  std::string text(std::uint64_t count, const char* what);
  void skip(std::uint64_t count, const char* what);

  /// An InputError about this file.
  [[noreturn]] void fail(const std::string& key, const std::string& message) const;
  /// The same, with the offset at which reading stands.
  [[noreturn]] void fail_here(const std::string& key, const std::string& message) const;

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  void need(std::uint64_t count, const char* what) const;
  void copy(char* to, std::size_t count);

  std::unique_ptr<std::FILE, Close> opened_;
  std::string file_name_;
  std::string buffer_;       ///< the window, of a file
  std::string_view window_;  ///< bytes from window_at_ on
  std::uint64_t window_at_ = 0;
  std::uint64_t offset_ = 0;
  std::uint64_t size_ = 0;
};

}  // namespace floorline
