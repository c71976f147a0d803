// SPDX-License-Identifier: Apache-2.0
#include "cli/output.hpp"

#include <sys/ioctl.h>
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

[[noreturn]] void cannot_write(const std::string& file) {
  throw InputError(Diagnostic{position_in(file), "--output", "cannot be written"});
}

/// What cannot be replaced (a pipe, a device) is written to.
void write_through(const std::string& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.flush();
  if (!out) cannot_write(file);
}

/// A link's target is replaced, not the link; permissions stay as they were.
void replace_file(const std::string& name, const std::string& text) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status before = fs::status(name, error);
  if (fs::exists(before) && !fs::is_regular_file(before)) {
    if (fs::is_directory(before)) cannot_write(name);
    return write_through(name, text);
  }
  const std::string file = fs::exists(before) ? fs::canonical(name, error).string() : name;
  if (fs::exists(before) && access(file.c_str(), W_OK) != 0) cannot_write(name);
  const std::string scratch = file + ".part";
  {
    std::ofstream out(scratch, std::ios::binary | std::ios::trunc);
    if (fs::exists(before)) fs::permissions(scratch, before.permissions(), error);
    out << text;
    out.flush();
    if (!out) {
      fs::remove(scratch, error);
      cannot_write(name);
    }
  }
  fs::rename(scratch, file, error);
  if (error) {
    fs::remove(scratch, error);
    cannot_write(name);
  }
}

}  // namespace

void print(const Document& document, const OutputOptions& options) {
  const WriteStyle style{wants_color(options), terminal_width()};
  print_text(write(document, format_of(options), style), options);
}

void print_text(const std::string& text, const OutputOptions& options) {
  if (!options.file.empty()) {
    replace_file(options.file, text);
    return;
  }
  std::cout << text << std::flush;
  if (!std::cout) {
    throw InputError(Diagnostic{position_in("standard output"), "", "cannot be written"});
  }
}

}  // namespace floorline
