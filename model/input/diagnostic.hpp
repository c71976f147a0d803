// SPDX-License-Identifier: Apache-2.0
// What is wrong with an input, where, and what was expected. All of a file's diagnostics are
// collected and thrown once; later messages caused by an earlier one are not added.
#pragma once

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/quantity/sourced.hpp"

namespace floorline {

struct Diagnostic {
  Position at;
  std::string key_path;  ///< "memory.hbm.bandwidth"; may be empty
  std::string message;   ///< what is wrong, what was expected
};
/// "file:line:column: error: key.path: message"
std::string to_text(const Diagnostic& diagnostic);

/// Bad file, key, unit or argument: exit status 2.
class InputError : public std::runtime_error {
 public:
  explicit InputError(std::vector<Diagnostic> diagnostics);
  explicit InputError(Diagnostic diagnostic);
  [[nodiscard]] const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
};

class Diagnostics {
 public:
  /// The same diagnostic twice is one. After a thousand the rest is dropped, and the last says so.
  void add(const Position& at, std::string key_path, std::string message);
  [[nodiscard]] bool full() const;
  [[nodiscard]] bool empty() const { return all_.empty(); }
  [[nodiscard]] std::size_t size() const { return all_.size(); }
  /// In the order of the lines of each file.
  void throw_if_any() const;

 private:
  std::vector<Diagnostic> all_;
};

/// What `read` refuses is added instead of thrown, so that what comes after it is read too.
template <class F>
void collect(Diagnostics& diagnostics, F&& read) {
  try {
    std::forward<F>(read)();
  } catch (const InputError& error) {
    for (const Diagnostic& d : error.diagnostics()) diagnostics.add(d.at, d.key_path, d.message);
  }
}
/// The same for what has a value; nothing where it was refused.
template <class F>
std::optional<std::invoke_result_t<F>> collected(Diagnostics& diagnostics, F&& read) {
  std::optional<std::invoke_result_t<F>> value;
  collect(diagnostics, [&] { value.emplace(std::forward<F>(read)()); });
  return value;
}

/// A position for text that did not come from a file, such as "command line".
Position position_in(std::string_view file, std::uint32_t line = 0, std::uint32_t column = 0);

/// What is wrong with a name that is given to something (blank, control characters), or "".
std::string wrong_name(std::string_view name);

/// At most `max_bytes` of the text, cut between characters, and "..." after a cut.
std::string shortened(std::string_view text, std::size_t max_bytes);

/// What was meant: a name of which `word` is the first or last part ("hbm.bandwidth", "kv" of
/// "kv_dtype"), else the one at the smallest edit distance, if it is near enough.
std::string nearest_name(std::string_view word, const std::vector<std::string>& candidates);
/// "; did you mean \"x\"?" or "".
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);
/// The suggestion, then all there are, the nearest first: "; did you mean \"x\"? There are x, y".
std::string names_there_are(std::string_view word, const std::vector<std::string>& candidates);
/// "\"half\" is not a precision; did you mean \"fp16\"? There are fp16, fp8, …"
std::string not_a_precision(std::string_view word);

}  // namespace floorline
