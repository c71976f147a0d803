// SPDX-License-Identifier: Apache-2.0
// Results to stdout or to files. A file is replaced whole or not at all, and so are all files of
// one command together; that they can be written is found before any work.
#pragma once

#include <deque>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options.hpp"
#include "model/report/document.hpp"

namespace floorline {

/// One file, written beside its name and renamed to it. A link's target is replaced, not the link;
/// permissions stay; what cannot be replaced (a pipe, a device) is written to. Every step throws an
/// InputError that names `flag` where the file cannot be written.
class OutputFile {
 public:
  /// Checks that it can be written; leaves nothing behind.
  OutputFile(std::string name, const char* flag);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  OutputFile(OutputFile&&) = delete;
  OutputFile& operator=(OutputFile&&) = delete;

  void open();
  void put(std::string_view text);
  void close();
  void replace();

  [[nodiscard]] const char* flag() const { return flag_; }
  /// What both of two flags name is one file.
  [[nodiscard]] bool same_as(const OutputFile& other) const;

 private:
  /// `error`: errno, 0 where there is none.
  [[noreturn]] void cannot_write(int error) const;
  void make_scratch();

  std::string name_;
  const char* flag_;
  std::string target_;    ///< what the name leads to
  bool through_ = false;  ///< a pipe or a device
  std::string scratch_;   ///< beside the target; empty when there is none
  std::ofstream stream_;
};

/// Every file of one command.
class OutputFiles {
 public:
  struct Named {
    const char* flag;
    std::string file;  ///< empty: the flag is not given
  };
  /// Throws all that is wrong: files that cannot be written, two flags that name one file.
  explicit OutputFiles(const std::vector<Named>& named);

  /// Of a flag that is given. A file without text is left as it is.
  void put(std::string_view flag, std::string text);
  /// Prints the document, then puts every file in its place; where one fails, none is touched.
  void finish(const Document& document, const OutputOptions& options);
  void finish(const std::string& text, const OutputOptions& options);

 private:
  std::deque<OutputFile> files_;
  std::vector<std::pair<OutputFile*, std::string>> texts_;
};

/// The same, what is wrong being added to `wrong`: then null.
std::unique_ptr<OutputFiles> output_files(const std::vector<OutputFiles::Named>& named,
                                          Diagnostics& wrong);
/// --format and --output, before any work.
void check_output(const OutputOptions& options, Diagnostics& wrong);

/// A document to standard output or to --output.
void print(const Document& document, const OutputOptions& options);
/// Text that is a file of its own: to standard output, or to --output, replaced whole.
void print_text(const std::string& text, const OutputOptions& options);
/// All that came before it has reached standard output, or an InputError.
void put_to_stdout(std::string_view text);

}  // namespace floorline
