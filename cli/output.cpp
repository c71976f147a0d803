// SPDX-License-Identifier: Apache-2.0
#include "cli/output.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "cli/scratch_file.hpp"
#include "model/input/diagnostic.hpp"
#include "model/quantity/unit_names.hpp"

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

/// Why a file could not be made, opened or written, as errno tells it; "" where that says no more.
std::string reason_of(int error, const std::string& file) {
  const std::string folder = fs::path(file).parent_path().string();
  switch (error) {
    case ENOENT:
      return ": there is no folder " + floorline::quoted(folder);
    case ENOTDIR:
      return ": " + floorline::quoted(folder) + " is no folder";
    case EISDIR:
      return ": is a folder; expected a file";
    case EACCES:
    case EPERM:
      return ": no permission";
    case EROFS:
      return ": the file system can only be read";
    case ENOSPC:
    case EDQUOT:
      return ": no space left";
    case EFBIG:
      return ": larger than a file may be here";
    case ENAMETOOLONG:
      return ": the name is too long";
    default:
      return "";
  }
}

}  // namespace

OutputFile::OutputFile(std::string name, const char* flag) : name_(std::move(name)), flag_(flag) {
  std::error_code error;
  const fs::file_status before = fs::status(name_, error);
  through_ = fs::exists(before) && !fs::is_regular_file(before);
  target_ = fs::weakly_canonical(fs::absolute(name_, error), error).string();
  if (error || target_.empty()) target_ = name_;
  if (fs::is_directory(before) || name_.ends_with('/')) cannot_write(EISDIR);
  if (fs::exists(before) && access(name_.c_str(), W_OK) != 0) cannot_write(errno);
  if (through_) return;
  make_scratch();
  remove_scratch_file(scratch_);  // nothing is left while the work is done
  scratch_.clear();
}

OutputFile::~OutputFile() {
  if (!scratch_.empty()) remove_scratch_file(scratch_);
}

void OutputFile::cannot_write(int error) const {
  throw InputError(
      Diagnostic{position_in(name_), flag_, "cannot be written" + reason_of(error, name_)});
}

void OutputFile::make_scratch() {
  scratch_ = new_scratch_file(target_);
  if (scratch_.empty()) cannot_write(errno);
}

void OutputFile::open() {
  errno = 0;
  if (through_) {
    stream_.open(name_, std::ios::binary);
  } else {
    make_scratch();
    stream_.open(scratch_, std::ios::binary | std::ios::trunc);
    std::error_code error;
    const fs::file_status before = fs::status(target_, error);
    if (fs::exists(before)) fs::permissions(scratch_, before.permissions(), error);
  }
  if (!stream_) cannot_write(errno);
}

void OutputFile::put(std::string_view text) {
  errno = 0;
  stream_.write(text.data(), static_cast<std::streamsize>(text.size()));
  if (!stream_) cannot_write(errno);
}

void OutputFile::close() {
  errno = 0;
  stream_.close();
  if (!stream_) cannot_write(errno);
}

void OutputFile::replace() {
  if (through_) return;
  std::error_code error;
  fs::rename(scratch_, target_, error);
  if (error) cannot_write(error.value());
  forget_scratch_file(scratch_);
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
