// SPDX-License-Identifier: Apache-2.0
#include "model/expression/expression.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace floorline {
namespace {

/// batch = 3, seq = 7, hidden = 10
const std::vector<double> kValues{3, 7, 10};

SymbolTable symbols() {
  SymbolTable table;
  table.slot("batch");
  table.slot("seq");
  table.slot("hidden");
  return table;
}

Expression parsed(const std::string& text) {
  Diagnostics diagnostics;
  Expression e = Expression::parse(text, symbols(), {}, "", diagnostics);
  CAPTURE(text);
  CHECK(diagnostics.empty());
  return e;
}

/// The one message that `text` gives.
std::string error_of(const std::string& text, const Position& at = {}) {
  Diagnostics diagnostics;
  const Expression e = Expression::parse(text, symbols(), at, "", diagnostics);
  CHECK(e.evaluate(kValues) == 0);
  CHECK(e.text() == "0");
  try {
    diagnostics.throw_if_any();
  } catch (const InputError& error) {
    REQUIRE(error.diagnostics().size() == 1);
    return to_text(error.diagnostics().front());
  }
  return "no error";
}

/// A random expression: its text and what it is worth.
struct Sample {
  std::string text;
  double value = 0;
};

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  Sample make(int depth) {
    if (depth == 0 || pick(5) == 0) return leaf();
    switch (pick(4)) {
      case 0:
        return rounded(make(depth - 1));
      case 1:
        return extreme(make(depth - 1), make(depth - 1), make(depth - 1));
      case 2:
        return negated(make(depth - 1));
      default:
        return arithmetic(make(depth - 1), make(depth - 1));
    }
  }

 private:
  Sample leaf() {
    static const std::vector<Sample> kLeaves{{"batch", 3},    {"seq", 7},    {"hidden", 10},
                                             {"2", 2},        {"0.5", 0.5},  {"1e3", 1000},
                                             {"25e-2", 0.25}, {"1.5E+1", 15}};
    return kLeaves[pick(kLeaves.size())];
  }
  Sample rounded(const Sample& a) {
    if (pick(2) == 0) return {"ceil(" + a.text + ")", std::ceil(a.value)};
    return {"floor( " + a.text + " )", std::floor(a.value)};
  }
  Sample extreme(const Sample& a, const Sample& b, const Sample& c) {
    const std::string arguments = "(" + a.text + "," + b.text + " , " + c.text + ")";
    if (pick(2) == 0) return {"min" + arguments, std::min({a.value, b.value, c.value})};
    return {"max" + arguments, std::max({a.value, b.value, c.value})};
  }
  Sample negated(const Sample& a) { return {"-(" + a.text + ")", -a.value}; }
  Sample arithmetic(const Sample& a, const Sample& b) {
    const std::string left = "(" + a.text + ")";
    const std::string right = "(" + b.text + ")";
    switch (pick(4)) {
      case 0:
        return {left + " + " + right, a.value + b.value};
      case 1:
        return {left + "-" + right, a.value - b.value};
      case 2:
        return {left + "*" + right, a.value * b.value};
      default:
        if (b.value == 0) return a;
        return {left + " / " + right, a.value / b.value};
    }
  }
  std::size_t pick(std::size_t n) { return random_() % n; }

  std::mt19937 random_;
};

TEST_SUITE("expression") {
  TEST_CASE("expression values, worked by hand") {
    const std::vector<std::pair<std::string, double>> table{
        {"0", 0},
        {"42", 42},
        {"1.5e3", 1500},
        {"batch", 3},
        {"batch * seq * hidden", 210},
        {"batch*(seq+hidden)", 51},
        {"2 + 3 * 4", 14},
        {"(2 + 3) * 4", 20},
        {"10 - 3 - 2", 5},
        {"64 / 4 / 2", 8},
        {"2 * 6 / 4", 3},
        {"-seq", -7},
        {"--seq", 7},
        {"2 - -3", 5},
        {"2 * -3", -6},
        {"-2 * 3", -6},
        {"-(2 + 3)", -5},
        {"ceil(seq / 2)", 4},
        {"floor(seq / 2)", 3},
        {"ceil(-3.5)", -3},
        {"floor(-3.5)", -4},
        {"min(seq, batch)", 3},
        {"max(seq, batch)", 7},
        {"max(1, seq, hidden, batch)", 10},
        {"min(4, 3, 2, 1) + 1", 2},
        {"max(-1, -2)", -1},
        {" \t\n( ( batch ) ) ", 3},
        {"ceil(hidden / 4) * 4 - min(batch, 2) / 2", 11},
    };
    for (const auto& [text, value] : table) {
      CAPTURE(text);
      const Expression e = parsed(text);
      CHECK(e.evaluate(kValues) == value);
      CHECK(e.text() == text);
    }
  }

  TEST_CASE("a default expression is zero, and a number is itself") {
    CHECK(Expression().evaluate({}) == 0);
    CHECK(Expression().text() == "0");
    CHECK(Expression().constant() == 0);
    CHECK(Expression(2.5).evaluate({}) == 2.5);
    CHECK(Expression(2.5).text() == "2.5");
    CHECK(parsed(Expression(-1e21).text()).evaluate({}) == -1e21);
    CHECK(parsed(Expression(1e-9).text()).evaluate({}) == 1e-9);
  }

  TEST_CASE("constants and symbols used") {
    CHECK(parsed("2 * 3").constant() == 6);
    CHECK_FALSE(parsed("2 * seq").constant());
    const Expression e = parsed("batch + hidden");
    CHECK(e.uses(0));
    CHECK_FALSE(e.uses(1));
    CHECK(e.uses(2));
    CHECK_FALSE(e.uses(-1));
  }

  TEST_CASE("division by zero and missing values are for the caller to judge") {
    CHECK(parsed("1 / 0").evaluate({}) == std::numeric_limits<double>::infinity());
    CHECK(std::isnan(parsed("0 / 0").evaluate({})));
    CHECK(std::isnan(parsed("min(1, 0 / 0)").evaluate({})));
    CHECK(std::isnan(parsed("max(0 / 0, 1)").evaluate({})));
    CHECK(std::isnan(parsed("seq").evaluate({})));
  }

  TEST_CASE("symbols keep their slots") {
    SymbolTable table;
    CHECK(table.slot("a") == 0);
    CHECK(table.slot("b") == 1);
    CHECK(table.slot("a") == 0);
    CHECK(table.find("b") == 1);
    CHECK_FALSE(table.find("c"));
    CHECK(table.names() == std::vector<std::string>{"a", "b"});
  }

  TEST_CASE("a symbol may have the name of a function") {
    SymbolTable table;
    table.slot("min");
    Diagnostics diagnostics;
    const Expression e = Expression::parse("min(min, 2)", table, {}, "", diagnostics);
    CHECK(diagnostics.empty());
    CHECK(e.evaluate(std::vector<double>{5}) == 2);
  }

  TEST_CASE("expression errors name the column and what was expected") {
    CHECK(error_of("") ==
          "error: \"\": is empty; expected an expression such as \"2 * hidden\" "
          "(column 1)");
    CHECK(error_of("2 +") ==
          "error: \"2 +\": ends too early; expected a number, a name or \"(\" (column 4)");
    CHECK(error_of("2 3") ==
          "error: \"2 3\": unexpected \"3\"; expected an operator or the end (column 3)");
    CHECK(error_of("2 ^ 3") ==
          "error: \"2 ^ 3\": unexpected \"^\"; expected an operator or the end (column 3)");
    CHECK(error_of("*2") ==
          "error: \"*2\": unexpected \"*\"; expected a number, a name or \"(\" (column 1)");
    CHECK(error_of("(2 + 3") == "error: \"(2 + 3\": ends too early; expected \")\" (column 7)");
    CHECK(error_of("2 + seqq * 2") ==
          "error: \"2 + seqq * 2\": \"seqq\" is not a known symbol; did you mean \"seq\"? "
          "(column 5)");
    CHECK(error_of("experts") ==
          "error: \"experts\": \"experts\" is not a known symbol; expected one of batch, seq, "
          "hidden (column 1)");
    CHECK(error_of("ciel(2)") ==
          "error: \"ciel(2)\": \"ciel\" is not a function; did you mean \"ceil\"? (column 1)");
    CHECK(error_of("sqrt(2)") ==
          "error: \"sqrt(2)\": \"sqrt\" is not a function; expected one of ceil, floor, min, max "
          "(column 1)");
    CHECK(error_of("1 + ceil(2, 3)") ==
          "error: \"1 + ceil(2, 3)\": \"ceil\" takes one argument (column 5)");
    CHECK(error_of("min(2)") ==
          "error: \"min(2)\": \"min\" takes two or more arguments (column 1)");
    CHECK(error_of("1e999") == "error: \"1e999\": \"1e999\" is out of range (column 1)");
    CHECK(error_of("2 \xC3\x97 3") ==
          "error: \"2 \xC3\x97 3\": unexpected \"\xC3\x97\"; expected an operator or the end "
          "(column 3)");
  }

  TEST_CASE("an error in a file points into the text after its quote") {
    // The quote is at 12:9, so the "s" of seqq, character 5, is at column 14.
    CHECK(error_of("2 + seqq", position_in("graph.toml", 12, 9)) ==
          "graph.toml:12:14: error: \"2 + seqq\": \"seqq\" is not a known symbol; did you mean "
          "\"seq\"?");
  }

  TEST_CASE("what is not an expression") {
    for (const char* text :
         {" ",     ")",    "()",      "(",       "2)",     "+2",        "2 + + 3", "2 ** 3",
          "min()", "min",  "min(,2)", "min(2,)", "ceil()", "ceil",      ".5",      "5.",
          "1e",    "0x10", "1_0",     "nan",     "inf",    "2(3)",      "(2)(3)",  "2,3",
          "\"2\"", "a.b",  "é",       "\xFF",    "2;",     "batch seq", "floor(2", "min(2, 3"}) {
      CAPTURE(text);
      CHECK(error_of(text) != "no error");
    }
    CHECK(error_of(std::string("2\0", 2)) != "no error");
  }

  TEST_CASE("deep and long expressions are refused, not followed") {
    constexpr std::size_t kDeep = Expression::kMaxDepth;
    const auto nested = [](std::size_t depth) {
      return std::string(depth, '(') + "1" + std::string(depth, ')');
    };
    CHECK(parsed(nested(kDeep)).evaluate({}) == 1);
    CHECK(error_of(nested(kDeep + 1)).find("is nested deeper than 64") != std::string::npos);
    CHECK(error_of(std::string(4000, '(')).find("is nested deeper") != std::string::npos);
    CHECK(error_of(std::string(4000, '-') + "1").find("is nested deeper") != std::string::npos);

    // 1+1*(1+1*(…: two values wait at each level.
    std::string wide;
    for (int i = 0; i < 40; ++i) wide += "1+1*(";
    CHECK(error_of(wide + "1" + std::string(40, ')')).find("needs more than 64") !=
          std::string::npos);

    // Width costs no depth.
    std::string sum = "1";
    std::string arguments = "1";
    for (int i = 0; i < 1000; ++i) {
      sum += "+1";
      arguments += ",2";
    }
    CHECK(parsed(sum).evaluate({}) == 1001);
    CHECK(parsed("max(" + arguments + ")").evaluate({}) == 2);

    CHECK(parsed("1" + std::string(Expression::kMaxText - 1, ' ')).evaluate({}) == 1);
    CHECK(error_of("1" + std::string(Expression::kMaxText, ' ')).find("longer than 4096") !=
          std::string::npos);
  }

  TEST_CASE("random expressions: value as worked beside, and print then parse is identity") {
    for (unsigned seed = 1; seed <= 300; ++seed) {
      CAPTURE(seed);
      const Sample sample = Generator(seed).make(5);
      if (sample.text.size() > Expression::kMaxText) continue;
      CAPTURE(sample.text);
      const Expression once = parsed(sample.text);
      const Expression twice = parsed(once.text());
      CHECK(once.evaluate(kValues) == sample.value);
      CHECK(twice.evaluate(kValues) == sample.value);
      CHECK(twice.text() == once.text());
    }
  }
}

}  // namespace
}  // namespace floorline
