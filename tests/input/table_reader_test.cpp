// SPDX-License-Identifier: Apache-2.0
#include "model/input/table_reader.hpp"

#include <doctest/doctest.h>

#include "model/quantity/quantity.hpp"

using namespace floorline;

namespace {

/// Reads `toml` with `read` and gives what is wrong with it; "" when all is well.
template <class Read>
std::string errors_of(std::string_view toml, const Read& read) {
  try {
    const Node root = parse_toml(toml, "d.toml");
    Diagnostics diagnostics;
    {
      TableReader reader(root, "", diagnostics);
      read(reader);
    }
    diagnostics.throw_if_any();
    return "";
  } catch (const InputError& e) {
    return e.what();
  }
}

std::string bandwidth_errors(std::string_view toml) {
  return errors_of(toml, [](TableReader& reader) {
    const Node* hbm = reader.node("hbm");
    REQUIRE(hbm);
    TableReader(*hbm, reader.path_of("hbm"), reader.diagnostics())
        .sourced<BytesPerSecond>("bandwidth");
  });
}

}  // namespace

TEST_SUITE("input") {
  TEST_CASE("plain values") {
    const std::string errors = errors_of(
        "name = \"x\"\nn = 3\nr = 2\non = true\nout = \"fp8\"\nlist = [\"a\", \"b\"]\n"
        "size = \"80 GB\"\nwork = 2e12\n",
        [](TableReader& reader) {
          CHECK(reader.required_text("name") == "x");
          CHECK(reader.count("n") == 3);
          CHECK(reader.number("r") == 2.0);
          CHECK(reader.flag("on") == true);
          CHECK(reader.precision("out") == Precision::fp8_e4m3);
          CHECK(reader.texts("list")->size() == 2);
          CHECK(reader.quantity<Bytes>("size") == GB(80));
          CHECK(reader.quantity<Flops>("work") == Flops(2e12));
          CHECK(!reader.text("absent"));
          CHECK(!reader.quantity<Bytes>("absent_too"));
          CHECK(reader.unread_keys().empty());
          CHECK(reader.keys().size() == 8);
          CHECK(reader.has("name"));
        });
    CHECK(errors == "");
  }

  TEST_CASE("wrong types are reported together, in the order of the lines") {
    const std::string errors = errors_of(
        "name = 1\nn = 3.0\nm = 0\nr = \"2\"\non = 1\nout = \"bf61\"\nlist = [\"a\", 2]\n"
        "size = 80\nwork = -1\nk = []\n",
        [](TableReader& reader) {
          CHECK(!reader.count("k"));
          CHECK(reader.required_text("name").empty());
          CHECK(!reader.count("n"));
          CHECK(!reader.count("m", 1));
          CHECK(!reader.number("r"));
          CHECK(!reader.flag("on"));
          CHECK(!reader.precision("out"));
          CHECK(!reader.texts("list"));
          CHECK(!reader.quantity<Bytes>("size"));
          CHECK(!reader.quantity<Flops>("work"));
        });
    CHECK(
        errors ==
        "d.toml:1:8: error: name: expected text, not an integer\n"
        "d.toml:2:5: error: n: expected a whole number without a decimal point or exponent, not 3\n"
        "d.toml:3:5: error: m: must be at least 1, not 0\n"
        "d.toml:4:5: error: r: expected a number, not text\n"
        "d.toml:5:6: error: on: expected true or false, not an integer\n"
        "d.toml:6:7: error: out: \"bf61\" is not a precision; did you mean \"bf16\"? There are "
        "bf16, fp8, fp64, fp32, tf32, fp16, fp8_e4m3, "
        "fp8_e5m2, fp6, fp4, mxfp4, nvfp4, int8, int4, int32\n"
        "d.toml:7:14: error: list[1]: expected text, not an integer\n"
        "d.toml:8:8: error: size: expected text with a unit such as \"80 GB\", not an integer\n"
        "d.toml:9:8: error: work: must not be negative, not -1\n"
        "d.toml:10:5: error: k: expected a whole number, not an array");
  }

  TEST_CASE("an absent required key points at its table") {
    CHECK(errors_of("x = 1\n[hbm]\n", [](TableReader& reader) {
            reader.count("x");
            TableReader hbm(*reader.node("hbm"), "hbm", reader.diagnostics());
            hbm.required_text("name");
          }) == "d.toml:2:1: error: hbm.name: missing; expected text");
  }

  TEST_CASE("a key nobody asked for is an error, once, with the nearest known key") {
    const auto read = [](TableReader& reader) {
      reader.text("bandwidth");
      reader.text("capacity");
      reader.finish();
      reader.finish();
    };
    CHECK(errors_of("bandwith = \"x\"", read) ==
          "d.toml:1:1: error: unknown key \"bandwith\"; did you mean \"bandwidth\"?");
    CHECK(errors_of("colour = \"x\"", read) ==
          "d.toml:1:1: error: unknown key \"colour\"; expected one of bandwidth, capacity");
    // "bandwidth" is there: it was not meant.
    CHECK(errors_of("bandwidth = \"x\"\nbandwith = \"x\"", read) ==
          "d.toml:2:1: error: unknown key \"bandwith\"; expected one of bandwidth, capacity");
    CHECK(errors_of("bandwith = 1", [](TableReader& reader) { reader.ignore_unread(); }) == "");
  }

  TEST_CASE("a node that is not a table is one error, not one for each key it lacks") {
    CHECK(errors_of("hbm = 3", [](TableReader& reader) {
            TableReader hbm(*reader.node("hbm"), "hbm", reader.diagnostics());
            CHECK(hbm.required_text("name").empty());
          }) == "d.toml:1:7: error: hbm: expected a table, not an integer");
  }

  TEST_CASE("JSON null is absent") {
    const Node root = parse_json("{\"a\": null}", "c.json");
    Diagnostics diagnostics;
    TableReader reader(root, "", diagnostics);
    CHECK(!reader.count("a"));
    CHECK(!reader.sourced_number("a"));
    CHECK(reader.unread_keys().empty());
    CHECK(diagnostics.empty());
    CHECK(reader.required_node("a", "a count") == nullptr);
    CHECK(diagnostics.size() == 1);
  }

  TEST_CASE("a sourced amount: all its parts") {
    const Node root = parse_toml(
        "b = { value = \"3.35 TB/s\", range = [\"3.35 TB/s\", \"3.352 TB/s\"], kind = "
        "\"best_seen\", "
        "origin = \"datasheet\", source = \"x\", note = \"y\" }\n"
        "bare = \"450 GB/s\"\n"
        "unknown = { unknown = \"not published\" }\n"
        "units = { value = 132, range = [130, 140] }\n",
        "d.toml");
    Diagnostics diagnostics;
    TableReader reader(root, "", diagnostics);
    const MaybeSourced<BytesPerSecond> b = reader.sourced<BytesPerSecond>("b");
    REQUIRE(b);
    CHECK(b->value == TBPerSecond(3.35));
    CHECK(b->low == TBPerSecond(3.35));
    CHECK(b->upper() == TBPerSecond(3.352));
    CHECK(b->kind == RateKind::best_seen);
    CHECK(b->from.origin == Origin::datasheet);
    CHECK(b->from.source == "x");
    CHECK(b->from.note == "y");
    CHECK(b->from.at.line == 1);
    CHECK(b->from.at.column == 15);
    const MaybeSourced<BytesPerSecond> bare = reader.sourced<BytesPerSecond>("bare");
    REQUIRE(bare);
    CHECK(bare->low == bare->value);
    CHECK(bare->high == bare->value);
    CHECK(bare->kind == RateKind::ceiling);
    CHECK(bare->from.origin == Origin::assumed);
    CHECK(bare->from.source.empty());
    const MaybeSourced<BytesPerSecond> unknown = reader.sourced<BytesPerSecond>("unknown");
    CHECK(!unknown);
    CHECK(unknown.unknown_because == "not published");
    CHECK(unknown.at.line == 3);
    const MaybeSourced<double> units = reader.sourced_number("units");
    REQUIRE(units);
    CHECK(units->value == 132.0);
    CHECK(units->high == 140.0);
    CHECK(units->from.origin == Origin::assumed);
    const MaybeSourced<Bytes> absent = reader.sourced<Bytes>("absent");
    CHECK(!absent);
    CHECK(absent.unknown_because.empty());
    CHECK(diagnostics.empty());
  }

  TEST_CASE("sourced flags and texts") {
    const std::string errors = errors_of(
        "nvls = { value = true, origin = \"datasheet\", source = \"x\" }\nswitch = \"nvswitch\"\n"
        "bad = { value = 1, range = [1, 2] }\nwhy = { unknown = \"unsaid\" }\n",
        [](TableReader& reader) {
          const MaybeSourced<bool> nvls = reader.sourced_flag("nvls");
          REQUIRE(nvls);
          CHECK(nvls->value);
          CHECK(nvls->from.origin == Origin::datasheet);
          CHECK(reader.sourced_text("switch")->value == "nvswitch");
          CHECK(!reader.sourced_flag("bad"));
          CHECK(reader.sourced_text("why").unknown_because == "unsaid");
        });
    CHECK(errors ==
          "d.toml:3:17: error: bad: expected true or false, not an integer\n"
          "d.toml:3:20: error: bad: unknown key \"range\"; expected one of value, origin, source, "
          "note");
  }

  TEST_CASE("a wrong unit is reported at the value, under the key's own path") {
    const std::string unit = bandwidth_errors("[hbm]\nbandwidth = { value = \"3 GBs\" }");
    CHECK(unit.starts_with("d.toml:2:23: error: hbm.bandwidth: "));
    CHECK(unit.find("\"GBs\" is not a rate") != std::string::npos);
    CHECK(unit.find("did you mean \"GB/s\"?") != std::string::npos);
    CHECK(
        bandwidth_errors("[hbm]\nbandwidth = 3e12") ==
        "d.toml:2:13: error: hbm.bandwidth: expected text with a unit such as \"3.35 TB/s\", not a "
        "number");
  }

  TEST_CASE("sub-keys, kinds, origins and ranges are checked") {
    const auto errors = [](std::string_view form) {
      return bandwidth_errors("[hbm]\nbandwidth = " + std::string(form));
    };
    CHECK(errors("{ value = \"3 TB/s\", sorce = \"x\" }") ==
          "d.toml:2:33: error: hbm.bandwidth: unknown key \"sorce\"; did you mean \"source\"?");
    CHECK(errors("{ vlaue = \"3 TB/s\" }") ==
          "d.toml:2:15: error: hbm.bandwidth: unknown key \"vlaue\"; did you mean \"value\"?");
    CHECK(errors("{ value = \"3 TB/s\", kind = \"celing\" }") ==
          "d.toml:2:40: error: hbm.bandwidth.kind: \"celing\" is not a kind of rate; did you mean "
          "\"ceiling\"?");
    CHECK(
        errors("{ value = \"3 TB/s\", origin = \"internet\" }") ==
        "d.toml:2:42: error: hbm.bandwidth.origin: \"internet\" is not an origin; expected one of "
        "datasheet, measured, derived, assumed");
    CHECK(errors("{ value = \"3 TB/s\", range = [\"4 TB/s\", \"2 TB/s\"] }") ==
          "d.toml:2:41: error: hbm.bandwidth.range: the low end is above the high end; expected "
          "[low, "
          "high]");
    CHECK(errors("{ value = \"3 TB/s\", range = [\"4 TB/s\", \"5 TB/s\"] }") ==
          "d.toml:2:41: error: hbm.bandwidth.range: the range does not contain the value");
    CHECK(errors("{ value = \"3 TB/s\", range = \"4 TB/s\" }") ==
          "d.toml:2:41: error: hbm.bandwidth.range: expected an array of two: [low, high]");
    CHECK(
        errors("{ origin = \"datasheet\" }") ==
        "d.toml:2:13: error: hbm.bandwidth.value: missing; expected a value, or unknown = \"why\"");
    CHECK(errors("{ unknown = \"\" }") ==
          "d.toml:2:25: error: hbm.bandwidth.unknown: expected the reason why it is unknown");
    CHECK(errors("{ value = \"3 TB/s\", unknown = \"why\" }") ==
          "d.toml:2:43: error: hbm.bandwidth.unknown: expected either a value or that it is "
          "unknown, not "
          "both");
  }
}
