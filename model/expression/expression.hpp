// SPDX-License-Identifier: Apache-2.0
// Arithmetic over symbols, for shapes and counts: numbers, names, + - * / ( ) ceil floor min max.
// Parsed once to a postfix program over symbol slots; evaluation allocates nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/input/diagnostic.hpp"

namespace floorline {

/// Names to slots. The values live beside it, in whatever order the slots give.
class SymbolTable {
 public:
  /// The slot of `name`, added when new.
  int slot(std::string_view name);
  [[nodiscard]] std::optional<int> find(std::string_view name) const;
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
  std::map<std::string, int, std::less<>> slots_;
};

class Expression {
 public:
  Expression() = default;                // the number 0
  explicit Expression(double constant);  ///< a finite one

  /// Parses `text`; a name that `symbols` does not have is an error that names the nearest one.
  /// On error adds one diagnostic and returns 0. Its place is `at` (the opening quote of the text)
  /// plus the 1-based column in the text; where `at` has no line the message tells the column.
  static Expression parse(std::string_view text, const SymbolTable& symbols, const Position& at,
                          std::string_view key_path, Diagnostics& diagnostics);

  /// Value with symbol i = values[i]. Division by zero gives inf or nan, for the caller to judge;
  /// so does a symbol that has no value here, and nan goes through min and max.
  [[nodiscard]] double evaluate(std::span<const double> values) const {
    return program_.size() == 1 ? value_of(program_.front(), values) : run(values);
  }
  [[nodiscard]] std::optional<double> constant() const;  ///< if no symbol is used
  [[nodiscard]] bool uses(int slot) const;
  /// The text it was parsed from, or the number; parses back to an equal expression.
  [[nodiscard]] const std::string& text() const { return text_; }

  enum class Code : std::uint8_t {
    number,
    symbol,
    add,
    subtract,
    multiply,
    divide,
    negate,
    ceil,
    floor,
    min,
    max
  };
  struct Step {
    Code code;
    int slot = 0;
    double number = 0;
  };
  static constexpr int kMaxDepth = 64;           ///< of the evaluation stack and of nesting
  static constexpr std::size_t kMaxText = 4096;  ///< characters; deeper or longer is an error

 private:
  /// Of a number or a symbol.
  static double value_of(const Step& step, std::span<const double> values) {
    if (step.code == Code::number) return step.number;
    const auto slot = static_cast<std::size_t>(step.slot);
    return slot < values.size() ? values[slot] : std::numeric_limits<double>::quiet_NaN();
  }
  [[nodiscard]] double run(std::span<const double> values) const;

  std::vector<Step> program_;
  std::string text_ = "0";
};

}  // namespace floorline
