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
  if (isatty(STDOUT_FILENO) == 0 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return kDefaultWidth;
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

void replace_file(const std::string& file, const std::string& text) {
  const std::string scratch = file + ".part";
  {
    std::ofstream out(scratch, std::ios::binary | std::ios::trunc);
    out << text;
    out.flush();
    if (!out) {
      std::error_code ignored;
      std::filesystem::remove(scratch, ignored);
      cannot_write(file);
    }
  }
  std::error_code error;
  std::filesystem::rename(scratch, file, error);
  if (error) {
    std::filesystem::remove(scratch, error);
    cannot_write(file);
  }
}

}  // namespace

void print(const Document& document, const OutputOptions& options) {
  const WriteStyle style{wants_color(options), terminal_width()};
  const std::string text = write(document, format_of(options), style);
  if (!options.file.empty()) {
    replace_file(options.file, text);
    return;
  }
  std::cout << text << std::flush;
}

}  // namespace floorline
