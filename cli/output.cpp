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

namespace fs = std::filesystem;

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

/// A new, empty file of its own name beside `file`: never one that is there. Empty when none can be
/// made.
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

void remove_file(const std::string& name) {
  std::error_code ignored;
  fs::remove(name, ignored);
}

}  // namespace

OutputFile::OutputFile(std::string name, const char* flag) : name_(std::move(name)), flag_(flag) {
  std::error_code error;
  const fs::file_status before = fs::status(name_, error);
  through_ = fs::exists(before) && !fs::is_regular_file(before);
  target_ = fs::weakly_canonical(fs::absolute(name_, error), error).string();
  if (error || target_.empty()) target_ = name_;
  if (fs::is_directory(before) || name_.ends_with('/')) cannot_write();
  if (fs::exists(before) && access(name_.c_str(), W_OK) != 0) cannot_write();
  if (through_) return;
  make_scratch();
  remove_file(scratch_);  // a killed command leaves nothing
  scratch_.clear();
}

OutputFile::~OutputFile() {
  if (!scratch_.empty()) remove_file(scratch_);
}

void OutputFile::cannot_write() const {
  throw InputError(Diagnostic{position_in(name_), flag_, "cannot be written"});
}

void OutputFile::make_scratch() {
  scratch_ = new_file_beside(target_);
  if (scratch_.empty()) cannot_write();
}

void OutputFile::open() {
  if (through_) {
    stream_.open(name_, std::ios::binary);
  } else {
    make_scratch();
    stream_.open(scratch_, std::ios::binary | std::ios::trunc);
    std::error_code error;
    const fs::file_status before = fs::status(target_, error);
    if (fs::exists(before)) fs::permissions(scratch_, before.permissions(), error);
  }
  if (!stream_) cannot_write();
}

void OutputFile::put(std::string_view text) {
  stream_.write(text.data(), static_cast<std::streamsize>(text.size()));
  if (!stream_) cannot_write();
}

void OutputFile::close() {
  stream_.close();
  if (!stream_) cannot_write();
}

void OutputFile::replace() {
  if (through_) return;
  std::error_code error;
  fs::rename(scratch_, target_, error);
  if (error) cannot_write();
  scratch_.clear();
}

bool OutputFile::same_as(const OutputFile& other) const {
  return !through_ && !other.through_ && target_ == other.target_;
}

OutputFiles::OutputFiles(const std::vector<Named>& named) {
  Diagnostics wrong;
  for (const Named& n : named) {
    if (n.file.empty()) continue;
    collect(wrong, [&] { files_.emplace_back(n.file, n.flag); });
    if (files_.empty() || std::string_view(files_.back().flag()) != n.flag) continue;
    for (std::size_t i = 0; i + 1 < files_.size(); ++i) {
      if (!files_[i].same_as(files_.back())) continue;
      wrong.add(position_in("command line"), n.flag,
                "names the file of " + std::string(files_[i].flag()) + ", " + n.file +
                    "; expected a file for each");
    }
  }
  wrong.throw_if_any();
}

void OutputFiles::put(std::string_view flag, std::string text) {
  for (OutputFile& file : files_) {
    if (file.flag() == flag) texts_.emplace_back(&file, std::move(text));
  }
}

void OutputFiles::finish(const std::string& text, const OutputOptions& options) {
  if (!options.file.empty()) put(options.flag, text);
  for (auto& [file, content] : texts_) {
    file->open();
    file->put(content);
    file->close();
  }
  if (options.file.empty()) put_to_stdout(text);
  for (auto& [file, content] : texts_) file->replace();
}

void OutputFiles::finish(const Document& document, const OutputOptions& options) {
  const WriteStyle style{wants_color(options), terminal_width()};
  finish(write(document, format_of(options), style), options);
}

std::unique_ptr<OutputFiles> output_files(const std::vector<OutputFiles::Named>& named,
                                          Diagnostics& wrong) {
  std::unique_ptr<OutputFiles> files;
  collect(wrong, [&] { files = std::make_unique<OutputFiles>(named); });
  return files;
}

void check_output(const OutputOptions& options, Diagnostics& wrong) {
  collect(wrong, [&] { format_of(options); });
  output_files({{options.flag, options.file}}, wrong);
}

void print(const Document& document, const OutputOptions& options) {
  OutputFiles({{options.flag, options.file}}).finish(document, options);
}

void print_text(const std::string& text, const OutputOptions& options) {
  OutputFiles({{options.flag, options.file}}).finish(text, options);
}

void put_to_stdout(std::string_view text) {
  std::cout << text << std::flush;
  if (!std::cout)
    throw InputError(Diagnostic{position_in("standard output"), "", "cannot be written"});
}

}  // namespace floorline
