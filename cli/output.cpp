// SPDX-License-Identifier: Apache-2.0
#include "cli/output.hpp"

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "model/input/diagnostic.hpp"

namespace floorline {

namespace {

constexpr int kNarrow = 80;
constexpr int kDefaultWidth = 120;

int terminal_width() {
  winsize size{};
  if (isatty(STDOUT_FILENO) == 0 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
    return kDefaultWidth;
  return std::clamp(static_cast<int>(size.ws_col), kNarrow, 2 * kDefaultWidth);
}

bool wants_color(const OutputOptions& options) {
  const char* no_color = std::getenv("NO_COLOR");
  const bool refused = options.no_color || (no_color != nullptr && *no_color != '\0');
  return !refused && options.file.empty() && isatty(STDOUT_FILENO) != 0;
}

[[noreturn]] void cannot_write(const std::string& file, const char* flag) {
  throw InputError(Diagnostic{position_in(file), flag, "cannot be written"});
}

/// What cannot be replaced (a pipe, a device) is written to.
void write_through(const std::string& file, const char* flag, const std::string& text) {
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.flush();
  if (!out) cannot_write(file, flag);
}

/// A link's target is replaced, not the link; permissions stay as they were.
void replace_file(const std::string& name, const char* flag, const std::string& text) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status before = fs::status(name, error);
  if (fs::exists(before) && !fs::is_regular_file(before)) {
    if (fs::is_directory(before)) cannot_write(name, flag);
    return write_through(name, flag, text);
  }
  const std::string file = fs::exists(before) ? fs::canonical(name, error).string() : name;
  if (fs::exists(before) && access(file.c_str(), W_OK) != 0) cannot_write(name, flag);
  const std::string scratch = new_file_beside(file);
  if (scratch.empty()) cannot_write(name, flag);
  {
    std::ofstream out(scratch, std::ios::binary | std::ios::trunc);
    if (fs::exists(before)) fs::permissions(scratch, before.permissions(), error);
    out << text;
    out.flush();
    if (!out) {
      fs::remove(scratch, error);
      cannot_write(name, flag);
    }
  }
  fs::rename(scratch, file, error);
  if (error) {
    fs::remove(scratch, error);
    cannot_write(name, flag);
  }
}

}  // namespace

std::string new_file_beside(const std::string& file) {
  std::string name = file + ".XXXXXX";
  const int descriptor = mkstemp(name.data());
  if (descriptor < 0) return "";
  const mode_t mask = umask(0);
  umask(mask);
  fchmod(descriptor, 0666 & ~mask);  // as if it had been opened by name
  close(descriptor);
  return name;
}

void write_file(const std::string& name, const char* flag, const std::string& text) {
  replace_file(name, flag, text);
}

void print(const Document& document, const OutputOptions& options) {
  const WriteStyle style{wants_color(options), terminal_width()};
  print_text(write(document, format_of(options), style), options);
}

void print_text(const std::string& text, const OutputOptions& options) {
  if (!options.file.empty()) {
    replace_file(options.file, options.flag, text);
    return;
  }
  std::cout << text << std::flush;
  if (!std::cout) {
    throw InputError(Diagnostic{position_in("standard output"), "", "cannot be written"});
  }
}

}  // namespace floorline
