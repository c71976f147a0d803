// SPDX-License-Identifier: Apache-2.0
#include "model/expression/expression.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "model/quantity/unit_names.hpp"

namespace floorline {

namespace {

using Code = Expression::Code;
using Step = Expression::Step;

struct Function {
  std::string_view name;
  Code code;
  bool one_argument;  ///< else two or more
};
constexpr std::array<Function, 4> kFunctions{{
    {"ceil", Code::ceil, true},
    {"floor", Code::floor, true},
    {"min", Code::min, false},
    {"max", Code::max, false},
}};

constexpr bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool starts_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// Recursive descent; every parse function returns false once `error` is set.
class Parser {
 public:
  Parser(std::string_view text, const SymbolTable& symbols) : text_(text), symbols_(symbols) {}

  bool parse_all() {
    if (text_.size() > Expression::kMaxText) {
      return fail(0, "is longer than " + std::to_string(Expression::kMaxText) + " characters");
    }
    skip_space();
    if (at_end()) return fail(0, "is empty; expected an expression such as \"2 * hidden\"");
    if (!sum()) return false;
    return at_end() || fail_here("expected an operator or the end");
  }

  std::vector<Step> program;
  std::string error;
  std::size_t error_offset = 0;

 private:
  bool sum() {
    if (!product()) return false;
    while (true) {
      const bool add = take('+');
      if (!add && !take('-')) return true;
      if (!product() || !apply(add ? Code::add : Code::subtract)) return false;
    }
  }

  bool product() {
    if (!unary()) return false;
    while (true) {
      const bool multiply = take('*');
      if (!multiply && !take('/')) return true;
      if (!unary() || !apply(multiply ? Code::multiply : Code::divide)) return false;
    }
  }

  bool unary() {
    if (!take('-')) return primary();
    if (!enter() || !unary()) return false;
    --nesting_;
    program.push_back({Code::negate});
    return true;
  }

  bool primary() {
    if (take('(')) return enter() && sum() && leave();
    if (at_end()) return fail(offset_, "ends too early; expected a number, a name or \"(\"");
    if (is_digit(text_[offset_])) return number();
    if (starts_name(text_[offset_])) return name();
    return fail_here("expected a number, a name or \"(\"");
  }

  bool number() {
    const std::string_view digits = text_.substr(offset_, number_length(text_.substr(offset_)));
    const auto value = parse_number(digits);
    if (!value) return fail(offset_, quoted(digits) + " is out of range");
    offset_ += digits.size();
    skip_space();
    return push({Code::number, 0, *value});
  }

  bool name() {
    const std::size_t start = offset_;
    while (!at_end() && (starts_name(text_[offset_]) || is_digit(text_[offset_]))) ++offset_;
    const std::string_view word = text_.substr(start, offset_ - start);
    skip_space();
    if (take('(')) return call(word, start);
    if (const auto slot = symbols_.find(word)) return push({Code::symbol, *slot});
    return fail(start, quoted(word) + " is not a known symbol" + hint(word, symbols_.names()));
  }

  /// The arguments and the ")" of a function whose "(" is taken.
  bool call(std::string_view word, std::size_t start) {
    const auto* function = std::find_if(kFunctions.begin(), kFunctions.end(),
                                        [word](const Function& f) { return f.name == word; });
    if (function == kFunctions.end()) {
      return fail(
          start, quoted(word) + " is not a function" + hint(word, {"ceil", "floor", "min", "max"}));
    }
    if (!enter() || !sum()) return false;
    int arguments = 1;
    while (take(',')) {
      ++arguments;
      if (!sum()) return false;
      if (!function->one_argument) apply(function->code);
    }
    if (function->one_argument != (arguments == 1)) {
      return fail(start, quoted(word) + " takes " +
                             (function->one_argument ? "one argument" : "two or more arguments"));
    }
    if (function->one_argument) program.push_back({function->code});
    return leave();
  }

  bool enter() {
    if (++nesting_ <= Expression::kMaxDepth) return true;
    return fail(offset_, "is nested deeper than " + std::to_string(Expression::kMaxDepth));
  }

  bool leave() {
    --nesting_;
    return take(')') || fail_here("expected \")\"");
  }

  bool push(const Step& step) {
    program.push_back(step);
    if (++depth_ <= Expression::kMaxDepth) return true;
    return fail(offset_, "needs more than " + std::to_string(Expression::kMaxDepth) +
                             " intermediate values at once");
  }

  /// A step that takes two values and gives one.
  bool apply(Code code) {
    program.push_back({code});
    --depth_;
    return true;
  }

  bool take(char c) {
    if (at_end() || text_[offset_] != c) return false;
    ++offset_;
    skip_space();
    return true;
  }

  void skip_space() {
    while (!at_end() && is_space(text_[offset_])) ++offset_;
  }

  [[nodiscard]] bool at_end() const { return offset_ == text_.size(); }

  bool fail(std::size_t offset, std::string message) {
    error = std::move(message);
    error_offset = offset;
    return false;
  }

  bool fail_here(const std::string& wanted) {
    if (at_end()) return fail(offset_, "ends too early; " + wanted);
    // A whole UTF-8 sequence, so that the message stays readable.
    std::size_t end = offset_ + 1;
    while (end < text_.size() && (static_cast<unsigned char>(text_[end]) & 0xC0U) == 0x80U) ++end;
    return fail(offset_,
                "unexpected " + quoted(text_.substr(offset_, end - offset_)) + "; " + wanted);
  }

  /// The nearest candidate, else the first few of them.
  static std::string hint(std::string_view word, const std::vector<std::string>& candidates) {
    constexpr std::size_t kShown = 8;
    std::string near = did_you_mean(word, candidates);
    if (!near.empty() || candidates.empty()) return near;
    std::string list = "; expected one of ";
    for (std::size_t i = 0; i < std::min(candidates.size(), kShown); ++i) {
      list.append(i == 0 ? "" : ", ").append(candidates[i]);
    }
    return candidates.size() > kShown ? list + ", ..." : list;
  }

  std::string_view text_;
  const SymbolTable& symbols_;
  std::size_t offset_ = 0;
  int nesting_ = 0;
  int depth_ = 0;
};

double apply_unary(Code code, double x) {
  switch (code) {
    case Code::ceil:
      return std::ceil(x);
    case Code::floor:
      return std::floor(x);
    default:
      return -x;
  }
}

double apply_binary(Code code, double a, double b) {
  switch (code) {
    case Code::add:
      return a + b;
    case Code::subtract:
      return a - b;
    case Code::multiply:
      return a * b;
    case Code::divide:
      return a / b;
    default:
      break;
  }
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  return code == Code::min ? std::min(a, b) : std::max(a, b);
}

}  // namespace

int SymbolTable::slot(std::string_view name) {
  if (const auto found = find(name)) return *found;
  names_.emplace_back(name);
  slots_.emplace(names_.back(), static_cast<int>(names_.size()) - 1);
  return static_cast<int>(names_.size()) - 1;
}

std::optional<int> SymbolTable::find(std::string_view name) const {
  const auto found = slots_.find(name);
  if (found == slots_.end()) return std::nullopt;
  return found->second;
}

Expression::Expression(double constant)
    : program_{{Code::number, 0, constant}}, text_(exact_text(constant)) {}

// NOLINTNEXTLINE(readability-function-size): where from, where to report
Expression Expression::parse(std::string_view text, const SymbolTable& symbols, const Position& at,
                             std::string_view key_path, Diagnostics& diagnostics) {
  Parser parser(text, symbols);
  Expression result;
  if (parser.parse_all()) {
    result.program_ = std::move(parser.program);
    result.text_ = text;
    return result;
  }
  Position place = at;
  std::string message = quoted(text) + ": " + parser.error;
  const std::size_t column = parser.error_offset + 1;
  if (at.line > 0) {
    place.column += static_cast<std::uint32_t>(column);
  } else {
    message += " (column " + std::to_string(column) + ")";
  }
  diagnostics.add(place, std::string(key_path), std::move(message));
  return result;
}

double Expression::run(std::span<const double> values) const {
  // parse() refuses what needs more than kMaxDepth values at once.
  // Not set to zero: shapes are evaluated millions of times, and only what was pushed is read.
  std::array<double, kMaxDepth> stack;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  stack[0] = 0;
  std::size_t size = 0;
  for (const Step& step : program_) {
    switch (step.code) {
      case Code::number:
      case Code::symbol:
        stack[size++] = value_of(step, values);
        break;
      case Code::negate:
      case Code::ceil:
      case Code::floor:
        stack[size - 1] = apply_unary(step.code, stack[size - 1]);
        break;
      default:
        --size;
        stack[size - 1] = apply_binary(step.code, stack[size - 1], stack[size]);
        break;
    }
  }
  return stack[0];
}

std::optional<double> Expression::constant() const {
  const bool has_symbol = std::any_of(program_.begin(), program_.end(),
                                      [](const Step& step) { return step.code == Code::symbol; });
  if (has_symbol) return std::nullopt;
  return evaluate({});
}

bool Expression::uses(int slot) const {
  return std::any_of(program_.begin(), program_.end(), [slot](const Step& step) {
    return step.code == Code::symbol && step.slot == slot;
  });
}

}  // namespace floorline
