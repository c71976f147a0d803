// SPDX-License-Identifier: Apache-2.0
#include "model/quantity/unit_names.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace floorline {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Row {
  const char* name;
  Dimension dimension;
  double factor;
};

/// The table again with its factors written out, so that a wrong zero there is found here.
const std::vector<Row> kRows{
    {"B", Dimension::bytes, 1.0},
    {"kB", Dimension::bytes, 1'000.0},
    {"MB", Dimension::bytes, 1'000'000.0},
    {"GB", Dimension::bytes, 1'000'000'000.0},
    {"TB", Dimension::bytes, 1'000'000'000'000.0},
    {"PB", Dimension::bytes, 1'000'000'000'000'000.0},
    {"KiB", Dimension::bytes, 1'024.0},
    {"MiB", Dimension::bytes, 1'048'576.0},
    {"GiB", Dimension::bytes, 1'073'741'824.0},
    {"TiB", Dimension::bytes, 1'099'511'627'776.0},
    {"PiB", Dimension::bytes, 1'125'899'906'842'624.0},
    {"FLOP", Dimension::flops, 1.0},
    {"kFLOP", Dimension::flops, 1'000.0},
    {"MFLOP", Dimension::flops, 1'000'000.0},
    {"GFLOP", Dimension::flops, 1'000'000'000.0},
    {"TFLOP", Dimension::flops, 1'000'000'000'000.0},
    {"PFLOP", Dimension::flops, 1'000'000'000'000'000.0},
    {"EFLOP", Dimension::flops, 1'000'000'000'000'000'000.0},
    {"s", Dimension::seconds, 1.0},
    {"ms", Dimension::seconds, 0.001},
    {"us", Dimension::seconds, 0.000'001},
    {"\xC2\xB5s", Dimension::seconds, 0.000'001},
    {"\xCE\xBCs", Dimension::seconds, 0.000'001},
    {"ns", Dimension::seconds, 0.000'000'001},
    {"min", Dimension::seconds, 60.0},
    {"h", Dimension::seconds, 3'600.0},
    {"B/s", Dimension::bytes_per_second, 1.0},
    {"kB/s", Dimension::bytes_per_second, 1'000.0},
    {"MB/s", Dimension::bytes_per_second, 1'000'000.0},
    {"GB/s", Dimension::bytes_per_second, 1'000'000'000.0},
    {"TB/s", Dimension::bytes_per_second, 1'000'000'000'000.0},
    {"PB/s", Dimension::bytes_per_second, 1'000'000'000'000'000.0},
    {"KiB/s", Dimension::bytes_per_second, 1'024.0},
    {"MiB/s", Dimension::bytes_per_second, 1'048'576.0},
    {"GiB/s", Dimension::bytes_per_second, 1'073'741'824.0},
    {"TiB/s", Dimension::bytes_per_second, 1'099'511'627'776.0},
    {"Mbit/s", Dimension::bytes_per_second, 125'000.0},
    {"Gbit/s", Dimension::bytes_per_second, 125'000'000.0},
    {"Tbit/s", Dimension::bytes_per_second, 125'000'000'000.0},
    {"FLOP/s", Dimension::flops_per_second, 1.0},
    {"kFLOP/s", Dimension::flops_per_second, 1'000.0},
    {"MFLOP/s", Dimension::flops_per_second, 1'000'000.0},
    {"GFLOP/s", Dimension::flops_per_second, 1'000'000'000.0},
    {"TFLOP/s", Dimension::flops_per_second, 1'000'000'000'000.0},
    {"PFLOP/s", Dimension::flops_per_second, 1'000'000'000'000'000.0},
    {"EFLOP/s", Dimension::flops_per_second, 1'000'000'000'000'000'000.0},
    {"Hz", Dimension::hertz, 1.0},
    {"kHz", Dimension::hertz, 1'000.0},
    {"MHz", Dimension::hertz, 1'000'000.0},
    {"GHz", Dimension::hertz, 1'000'000'000.0},
    {"FLOP/byte", Dimension::flops_per_byte, 1.0},
    {"FLOP/B", Dimension::flops_per_byte, 1.0},
    {"token/s", Dimension::tokens_per_second, 1.0},
    {"tokens/s", Dimension::tokens_per_second, 1.0},
};

std::string error_of(std::string_view text, Dimension dimension) {
  return parse_quantity(text, dimension).error;
}

/// What to_text prints for an amount of any dimension that has a type.
std::string text_of(double base, Dimension dimension, int digits) {
  switch (dimension) {
    case Dimension::bytes:
      return to_text(Bytes(base), digits);
    case Dimension::flops:
      return to_text(Flops(base), digits);
    case Dimension::seconds:
      return to_text(Seconds(base), digits);
    case Dimension::bytes_per_second:
      return to_text(BytesPerSecond(base), digits);
    case Dimension::flops_per_second:
      return to_text(FlopsPerSecond(base), digits);
    case Dimension::hertz:
      return to_text(Hertz(base), digits);
    case Dimension::flops_per_byte:
      return to_text(FlopsPerByte(base), digits);
    case Dimension::tokens_per_second:
      break;
  }
  return exact_text(base) + " token/s";
}

TEST_SUITE("quantity") {
  TEST_CASE("the unit table is these rows and no others") {
    std::set<std::string> here;
    for (const Row& row : kRows) here.insert(row.name);
    std::set<std::string> there;
    for (const UnitName& unit : unit_table()) there.insert(std::string(unit.name));
    CHECK(here == there);
    CHECK(here.size() == kRows.size());
    CHECK(there.size() == unit_table().size());
  }

  TEST_CASE("every unit reads as its power of ten or two") {
    for (const Row& row : kRows) {
      CAPTURE(row.name);
      const std::string name = row.name;
      const ParsedQuantity one = parse_quantity("1 " + name, row.dimension);
      CHECK(one.error == "");
      CHECK(one.base == row.factor);
      CHECK(parse_quantity("1" + name, row.dimension).base == row.factor);
      CHECK(parse_quantity(" 1.0e0\t" + name + " ", row.dimension).base == row.factor);
      CHECK(parse_quantity("8 " + name, row.dimension).base == doctest::Approx(8 * row.factor));
      const auto any = parse_any_quantity("1 " + name);
      REQUIRE(any);
      CHECK(any->dimension == row.dimension);
      CHECK(any->base == row.factor);
    }
  }

  TEST_CASE("every unit is refused, with its kind, where another dimension is wanted") {
    for (const Row& row : kRows) {
      for (int d = 0; d < kDimensionCount; ++d) {
        const auto wanted = static_cast<Dimension>(d);
        if (wanted == row.dimension) continue;
        CAPTURE(row.name);
        CAPTURE(name_of(wanted));
        const std::string error = error_of(std::string("1 ") + row.name, wanted);
        CHECK(error.find(" is a") != std::string::npos);
        CHECK(error.find(", expected a") != std::string::npos);
      }
    }
  }

  TEST_CASE("every name that prints gives back its amount") {
    // 7 of each unit: to_text picks a unit of the same dimension, and the text reads as the same.
    for (const Row& row : kRows) {
      CAPTURE(row.name);
      const double amount = 7 * row.factor;
      const std::string text = text_of(amount, row.dimension, 17);
      CAPTURE(text);
      const ParsedQuantity back = parse_quantity(text, row.dimension);
      CHECK(back.error == "");
      CHECK(back.base == doctest::Approx(amount).epsilon(1e-12));
    }
    const std::vector<std::pair<std::string, std::string>> sevens{
        {to_text(Bytes(7)), "7 B"},
        {to_text(Bytes(7'000)), "7.000 kB"},
        {to_text(Bytes(7'000'000)), "7.000 MB"},
        {to_text(Bytes(7'000'000'000)), "7.000 GB"},
        {to_text(Bytes(7'000'000'000'000)), "7.000 TB"},
        {to_text(Bytes(7'000'000'000'000'000)), "7.000 PB"},
        {to_text_binary(Bytes(7)), "7 B"},
        {to_text_binary(Bytes(7'168)), "7.000 KiB"},
        {to_text_binary(Bytes(7'340'032)), "7.000 MiB"},
        {to_text_binary(Bytes(7'516'192'768)), "7.000 GiB"},
        {to_text_binary(Bytes(7'696'581'394'432)), "7.000 TiB"},
        {to_text_binary(Bytes(7'881'299'347'898'368)), "7.000 PiB"},
        {to_text(Flops(7)), "7 FLOP"},
        {to_text(Flops(7'000)), "7.000 kFLOP"},
        {to_text(Flops(7'000'000)), "7.000 MFLOP"},
        {to_text(Flops(7'000'000'000)), "7.000 GFLOP"},
        {to_text(Flops(7'000'000'000'000)), "7.000 TFLOP"},
        {to_text(Flops(7'000'000'000'000'000)), "7.000 PFLOP"},
        {to_text(Flops(7'000'000'000'000'000'000.0)), "7.000 EFLOP"},
        {to_text(Seconds(7)), "7.000 s"},
        {to_text(Seconds(0.007)), "7.000 ms"},
        {to_text(Seconds(0.000'007)), "7.000 us"},
        {to_text(Seconds(0.000'000'007)), "7.000 ns"},
        {to_text(BytesPerSecond(7)), "7.000 B/s"},
        {to_text(BytesPerSecond(7'000)), "7.000 kB/s"},
        {to_text(BytesPerSecond(7'000'000)), "7.000 MB/s"},
        {to_text(BytesPerSecond(7'000'000'000)), "7.000 GB/s"},
        {to_text(BytesPerSecond(7'000'000'000'000)), "7.000 TB/s"},
        {to_text(BytesPerSecond(7'000'000'000'000'000)), "7.000 PB/s"},
        {to_text(FlopsPerSecond(7)), "7.000 FLOP/s"},
        {to_text(FlopsPerSecond(7'000)), "7.000 kFLOP/s"},
        {to_text(FlopsPerSecond(7'000'000)), "7.000 MFLOP/s"},
        {to_text(FlopsPerSecond(7'000'000'000)), "7.000 GFLOP/s"},
        {to_text(FlopsPerSecond(7'000'000'000'000)), "7.000 TFLOP/s"},
        {to_text(FlopsPerSecond(7'000'000'000'000'000)), "7.000 PFLOP/s"},
        {to_text(FlopsPerSecond(7'000'000'000'000'000'000.0)), "7.000 EFLOP/s"},
        {to_text(Hertz(7)), "7.000 Hz"},
        {to_text(Hertz(7'000)), "7.000 kHz"},
        {to_text(Hertz(7'000'000)), "7.000 MHz"},
        {to_text(Hertz(70'000'000'000)), "70.00 GHz"},
        {to_text(FlopsPerByte(7)), "7.000 FLOP/byte"},
    };
    for (const auto& [printed, expected] : sevens) CHECK(printed == expected);
  }

  TEST_CASE("decimal prefixes read without a rounding of their own") {
    CHECK(parse_quantity("3.35 TB/s", Dimension::bytes_per_second).base == 3'350'000'000'000.0);
    CHECK(parse_quantity("3.352TB/s", Dimension::bytes_per_second).base == 3'352'000'000'000.0);
    CHECK(parse_quantity("989.4 TFLOP/s", Dimension::flops_per_second).base ==
          989'400'000'000'000.0);
    CHECK(parse_quantity("1.1 GB", Dimension::bytes).base == 1'100'000'000.0);
    CHECK(parse_quantity("4.7 us", Dimension::seconds).base == 0.0000047);
    CHECK(parse_quantity("9.302ms", Dimension::seconds).base == 0.009302);
    CHECK(parse_quantity("1.5e-3 GB", Dimension::bytes).base == 1'500'000.0);
    CHECK(parse_quantity("1.5E+3 GB", Dimension::bytes).base == 1'500'000'000'000.0);
    CHECK(parse_quantity("0e999999 GB", Dimension::bytes).base == 0);
  }

  TEST_CASE("quantities of each type") {
    CHECK(std::get<Bytes>(quantity_from<Bytes>("79.5 GiB")) == GiB(79.5));
    CHECK(std::get<Hertz>(quantity_from<Hertz>("1980 MHz")) == MHz(1980));
    CHECK(std::get<Seconds>(quantity_from<Seconds>("2 min")) == seconds(120));
    CHECK(std::get<Flops>(quantity_from<Flops>("5EFLOP")) == flops(5e18));
    CHECK(std::get<FlopsPerByte>(quantity_from<FlopsPerByte>("2.5 FLOP/B")) == FlopsPerByte(2.5));
    // 400 Gbit/s are 50 GB/s
    CHECK(std::get<BytesPerSecond>(quantity_from<BytesPerSecond>("400 Gbit/s")) == GBPerSecond(50));
    CHECK(std::get<std::string>(quantity_from<FlopsPerSecond>("5")) ==
          "\"5\" has no unit; expected a compute rate such as \"989.4 TFLOP/s\"");
  }

  TEST_CASE("only FLOPs may be a bare number") {
    CHECK(parse_quantity("2e12", Dimension::flops).base == 2e12);
    for (int d = 0; d < kDimensionCount; ++d) {
      const auto dimension = static_cast<Dimension>(d);
      if (dimension == Dimension::flops) continue;
      CAPTURE(name_of(dimension));
      CHECK(error_of("5", dimension).find("\"5\" has no unit; expected a") == 0);
      CHECK(error_of("0", dimension).find("\"0\" has no unit; expected a") == 0);
    }
    CHECK_FALSE(parse_any_quantity("5"));
  }

  TEST_CASE("messages name what was expected and the nearest unit") {
    CHECK(error_of("3.35 TBs", Dimension::bytes_per_second) ==
          "\"3.35 TBs\": \"TBs\" is not a rate in bytes per second; did you mean \"TB/s\"?");
    CHECK(error_of("80 G", Dimension::bytes) ==
          "\"80 G\": \"G\" is not a size in bytes; did you mean \"GB\"?");
    CHECK(error_of("80 gib", Dimension::bytes) ==
          "\"80 gib\": \"gib\" is not a size in bytes; did you mean \"GiB\"?");
    CHECK(error_of("5", Dimension::seconds) ==
          "\"5\" has no unit; expected a time such as \"5 us\"");
    CHECK(error_of("80 GB", Dimension::bytes_per_second) ==
          "\"80 GB\" is a size, expected a rate such as \"3.35 TB/s\"");
    CHECK(error_of("1 TFLOP/s", Dimension::bytes_per_second) ==
          "\"1 TFLOP/s\" is a compute rate, expected a rate such as \"3.35 TB/s\"");
    CHECK(error_of("5 furlongs", Dimension::seconds) ==
          "\"5 furlongs\": \"furlongs\" is not a time; expected a time such as \"5 us\"");
    CHECK(error_of("5 sec", Dimension::seconds) ==
          "\"5 sec\": \"sec\" is not a time; did you mean \"s\"?");
    CHECK(error_of("1 TFLOPS", Dimension::flops_per_second) ==
          "\"1 TFLOPS\": \"TFLOPS\" is not a rate in FLOP per second; did you mean \"TFLOP/s\"?");
    CHECK(error_of("1 mhz", Dimension::hertz) ==
          "\"1 mhz\": \"mhz\" is not a frequency; did you mean \"MHz\"?");
    CHECK(error_of("", Dimension::bytes) ==
          "\"\" does not start with a number; expected a size such as \"80 GB\"");
    CHECK(error_of("-5 us", Dimension::seconds) ==
          "\"-5 us\" is negative; expected a time such as \"5 us\"");
    CHECK(error_of("1e999 B", Dimension::bytes) ==
          "\"1e999 B\" is out of range; expected a size such as \"80 GB\"");
  }

  TEST_CASE("k alone and b alone are refused") {
    CHECK(error_of("32 k", Dimension::bytes) ==
          "\"32 k\": \"k\" is not a size in bytes; did you mean \"kB\"?");
    CHECK(error_of("32 b", Dimension::bytes) ==
          "\"32 b\": \"b\" is not a size in bytes; did you mean \"B\"?");
    CHECK(error_of("400 Gb/s", Dimension::bytes_per_second) ==
          "\"400 Gb/s\": \"Gb/s\" is not a rate in bytes per second; did you mean \"Gbit/s\" or "
          "\"GB/s\"?");
    CHECK(error_of("400 Gbps", Dimension::bytes_per_second) ==
          "\"400 Gbps\": \"Gbps\" is not a rate in bytes per second; did you mean \"Gbit/s\" or "
          "\"GB/s\"?");
  }

  TEST_CASE("what is not a quantity") {
    for (const char* text :
         {"",        " ",        "GB",        "nan GB", "inf GB",  "infinity",  "-inf B",
          "-1 GB",   "-0 B",     "--1 GB",    "0x10 B", "0x1p3 B", ".5 GB",     "5. GB",
          "5,0 GB",  "5_000 GB", "1e B",      "1 e3 B", "1 GB x",  "1 GB 1",    "1 GB/s/s",
          "1e400 B", "1e308 GB", "1e-400 GB", "1 gb",   "1 Gb",    "1 KB",      "1 GiBs",
          "1 GB\n",  "1\n GB",   "1 G B",     "+-1 GB", "1e+ GB",  "\xFF 5 GB", "5 \xFF"}) {
      CAPTURE(text);
      const ParsedQuantity parsed = parse_quantity(text, Dimension::bytes);
      CHECK(parsed.error != "");
      CHECK(parsed.base == 0);
      CHECK_FALSE(parse_any_quantity(text));
    }
    CHECK(parse_quantity("+1 GB", Dimension::bytes).base == 1e9);
  }

  TEST_CASE("messages stay short for long input") {
    const std::string error = error_of("1 " + std::string(1'000'000, 'x'), Dimension::bytes);
    CHECK(error.size() < 300);
    // A cut never splits a character: 64 bytes would end inside the second one.
    CHECK(quoted(std::string(63, 'x') + "\xC2\xB5\xC2\xB5") ==
          '"' + std::string(63, 'x') + "...\"");
    CHECK(quoted("GB") == "\"GB\"");
  }

  TEST_CASE("numbers") {
    CHECK(parse_number("0") == 0);
    CHECK(parse_number("00012") == 12);
    CHECK(parse_number("-1.25") == -1.25);
    CHECK(parse_number("+3") == 3);
    CHECK(parse_number("2e12") == 2e12);
    CHECK(parse_number("2E-3") == 0.002);
    CHECK(parse_number("1.7976931348623157e308") == std::numeric_limits<double>::max());
    for (const char* text :
         {"",    "-",     "+",      ".",    "e5",       ".5",    "5.",    "5.e3", "1e",
          "1e+", "nan",   "inf",    "-inf", "infinity", "0x10",  "1_000", "1,5",  " 1",
          "1 ",  "1e400", "1e-400", "--1",  "+-1",      "1.2.3", "1f"}) {
      CAPTURE(text);
      CHECK_FALSE(parse_number(text));
    }
    CHECK(number_length("12.5e3 GB") == 6);
    CHECK(number_length("5EFLOP") == 1);
    CHECK(number_length("5.x") == 1);
    CHECK(number_length("-5") == 0);
    CHECK(number_length("") == 0);
  }

  TEST_CASE("texts for people") {
    CHECK(to_text(Seconds(40.05e-6)) == "40.05 us");
    CHECK(to_text(BytesPerSecond(3.352e12)) == "3.352 TB/s");
    CHECK(to_text(GB(1.208)) == "1.208 GB");
    CHECK(to_text_binary(GiB(13.04)) == "13.04 GiB");
    CHECK(to_text(Flops(2e12)) == "2.000 TFLOP");
    CHECK(to_text(FlopsPerSecond(989.4e12)) == "989.4 TFLOP/s");
    CHECK(to_text(MHz(1980)) == "1980 MHz");
    CHECK(to_text(FlopsPerByte(295.34)) == "295.3 FLOP/byte");
    // 141 GB = 141e9 / 2^30 = 131.317… GiB
    CHECK(to_text_binary(GB(141)) == "131.3 GiB");
    CHECK(to_text(GB(141), 3) == "141 GB");
    CHECK(to_text(Seconds(0.1), 2) == "100 ms");
  }

  TEST_CASE("whole counts below the first prefix have no decimals") {
    CHECK(to_text(bytes(12)) == "12 B");
    CHECK(to_text(bytes(999)) == "999 B");
    CHECK(to_text(bytes(-12)) == "-12 B");
    CHECK(to_text(bytes(0.5)) == "0.5000 B");
    CHECK(to_text_binary(bytes(1023)) == "1023 B");
    CHECK(to_text_binary(bytes(1023), 2) == "1023 B");
    CHECK(to_text(flops(12)) == "12 FLOP");
  }

  TEST_CASE("zero, infinite and negative amounts") {
    CHECK(to_text(Bytes()) == "0 B");
    CHECK(to_text_binary(Bytes()) == "0 B");
    CHECK(to_text(Flops()) == "0 FLOP");
    CHECK(to_text(Seconds()) == "0 s");
    CHECK(to_text(BytesPerSecond()) == "0 B/s");
    CHECK(to_text(FlopsPerSecond()) == "0 FLOP/s");
    CHECK(to_text(Hertz()) == "0 Hz");
    CHECK(to_text(FlopsPerByte()) == "0 FLOP/byte");
    CHECK(to_text(Seconds(kInfinity)) == "inf s");
    CHECK(to_text(Bytes(kInfinity)) == "inf B");
    CHECK(to_text(FlopsPerByte(kInfinity)) == "inf FLOP/byte");
    CHECK(to_text(GB(-2.5)) == "-2.500 GB");
  }

  TEST_CASE("rounding reaches the next prefix") {
    CHECK(to_text(Seconds(999.96e-6)) == "1.000 ms");
    CHECK(to_text(Seconds(999.94e-6)) == "999.9 us");
    CHECK(to_text(bytes(999'960)) == "1.000 MB");
    CHECK(to_text_binary(KiB(1023.96)) == "1.000 MiB");
    CHECK(to_text_binary(KiB(1013.4)) == "1013 KiB");
  }

  TEST_CASE("amounts that no prefix reaches") {
    CHECK(to_text(Seconds(0.5e-9)) == "0.5000 ns");
    CHECK(to_text(Seconds(3600)) == "3600 s");
    CHECK(to_text(Flops(1234.5e18)) == "1234 EFLOP");  // the tie goes to even
    CHECK(to_text(Bytes(2e30)) == "2.000e+15 PB");
  }

  TEST_CASE("numbers as text") {
    CHECK(number_text(0) == "0");
    CHECK(number_text(1) == "1.000");
    CHECK(number_text(-1.5, 2) == "-1.5");
    CHECK(number_text(9.9996) == "10.00");
    CHECK(number_text(1234.4) == "1234");
    CHECK(number_text(1234567, 3) == "1230000");
    CHECK(number_text(9999999) == "1.000e+07");
    CHECK(number_text(12345678) == "1.235e+07");
    CHECK(number_text(0.00012345, 3) == "0.000123");
    CHECK(number_text(0.00001) == "1.000e-05");
    CHECK(number_text(2, 0) == "2");
    CHECK(number_text(0.1, 99) == "0.10000000000000001");
    CHECK(number_text(kInfinity) == "inf");
    CHECK(number_text(-kInfinity) == "-inf");
    CHECK(exact_text(0.1) == "0.1");
    CHECK(exact_text(3.35e12) == "3.35e+12");
    CHECK(exact_text(1e-320) != "0");
    CHECK(exact_text(100000) == "1e+05");
    CHECK(count_text(100000) == "100000");
    CHECK(count_text(9007199254740992.0) == "9007199254740992");
    CHECK(count_text(2.5) == "2.5");
    CHECK(count_text(1e300) == "1e+300");
    CHECK(count_text(kInfinity) == "inf");
  }

  TEST_CASE("print then parse keeps an exact number and a rounded amount") {
    for (unsigned seed = 1; seed <= 20; ++seed) {
      CAPTURE(seed);
      std::mt19937_64 random(seed);
      std::uniform_real_distribution<double> exponent(-12, 18);
      for (int i = 0; i < 100; ++i) {
        const double value = std::pow(10.0, exponent(random));
        CAPTURE(value);
        CHECK(parse_number(exact_text(value)) == value);
        for (int d = 0; d < kDimensionCount; ++d) {
          const auto dimension = static_cast<Dimension>(d);
          const std::string text = text_of(value, dimension, 4);
          CAPTURE(text);
          const ParsedQuantity back = parse_quantity(text, dimension);
          CHECK(back.error == "");
          // Four digits: off by half of the last one at most.
          CHECK(std::abs(back.base - value) <= value * 0.000501);
        }
      }
    }
  }
}

}  // namespace
}  // namespace floorline
