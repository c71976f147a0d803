// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "model/report/document.hpp"
#include "model/report/utf8.hpp"

using namespace floorline;

namespace {

std::string json_of(Json value) {
  Document document;
  document.json = std::move(value);
  return write_json(document);
}

Table small_table() {
  Table table;
  table.title = "Operators";
  table.columns = {{"op"}, {"time", true}, {"binding"}};
  table.rows = {{"qkv", "12.5 us", "hbm"}, {"softmax", "3 µs", "vector.fp32"}};
  table.totals = {"total", "15.5 us"};
  table.footnotes = {"cold: nothing in a cache"};
  return table;
}

Document small_document() {
  Document document;
  Section section;
  section.title = "Floor";
  section.fields = {{"device", "h100_sxm"}, {"time", "100 ms"}};
  section.lines = {"Bound by memory."};
  section.tables = {small_table()};
  document.sections = {section};
  return document;
}

Document with_table(Table table) {
  Document document;
  document.sections.resize(1);
  document.sections[0].tables = {std::move(table)};
  return document;
}

Document with_line(std::string line) {
  Document document;
  document.sections.resize(1);
  document.sections[0].lines = {std::move(line)};
  return document;
}

}  // namespace

TEST_SUITE("report") {
  TEST_CASE("a member set again is replaced where it stands") {
    Json json = Json::object();
    json.set("b", 1).set("a", 2).set("b", "x");
    REQUIRE(json.members().size() == 2);
    CHECK(json.members()[0].first == "b");
    CHECK(json.find("b")->text() == "x");
    CHECK(json.find("a")->integer() == 2);
    CHECK(json.find("c") == nullptr);
    CHECK(Json(1).find("a") == nullptr);
    CHECK_THROWS_AS(Json::array().set("a", 1), std::logic_error);
    CHECK_THROWS_AS(Json::object().push(1), std::logic_error);
  }

  TEST_CASE("json: two spaces, members in order, one newline at the end") {
    Json json = Json::object();
    json.set("schema", 1).set("fits", false).set("none", Json());
    json.set("ops", Json::array().push("a").push(Json::object().set("n", 2)));
    json.set("no_items", Json::array()).set("no_members", Json::object());
    CHECK(json_of(json) ==
          "{\n"
          "  \"schema\": 1,\n"
          "  \"fits\": false,\n"
          "  \"none\": null,\n"
          "  \"ops\": [\n"
          "    \"a\",\n"
          "    {\n"
          "      \"n\": 2\n"
          "    }\n"
          "  ],\n"
          "  \"no_items\": [],\n"
          "  \"no_members\": {}\n"
          "}\n");
  }

  TEST_CASE("json numbers: shortest, exact integers without exponent, never nan") {
    CHECK(json_of(0.1) == "0.1\n");
    CHECK(json_of(4.005e-05) == "4.005e-05\n");
    CHECK(json_of(100000.0) == "100000\n");
    CHECK(json_of(2e12) == "2000000000000\n");
    CHECK(json_of(-3352e9) == "-3352000000000\n");
    CHECK(json_of(-0.0) == "0\n");
    CHECK(json_of(9007199254740991.0) == "9007199254740991\n");
    CHECK(json_of(1e300) == "1e+300\n");
    CHECK(json_of(std::numeric_limits<std::int64_t>::min()) == "-9223372036854775808\n");
    CHECK(json_of(std::nan("")) == "null\n");
    CHECK(json_of(std::numeric_limits<double>::infinity()) == "null\n");
    CHECK(Json(std::nan("")).kind() == Json::Kind::null);
  }

  TEST_CASE("json numbers read back as the same double") {
    const double doubles[] = {
        1.0 / 3, 1.0 / 12, 5e-324,   1.7976931348623157e308, 9007199254740993.0,
        -2.5,    1e22,     123456.75};
    for (const double value : doubles) {
      CAPTURE(value);
      CHECK(nlohmann::json::parse(json_of(value)).get<double>() == value);
    }
  }

  TEST_CASE("json text is escaped and reads back") {
    CHECK(json_of("a\"b\\c\n\t\x01\x1b µ") == "\"a\\\"b\\\\c\\n\\t\\u0001\\u001b µ\"\n");
    std::string all;
    for (int c = 0; c < 128; ++c) all += static_cast<char>(c);
    all += "µ…\U0001F600";
    const auto parsed = nlohmann::json::parse(json_of(Json::object().set(all, all)));
    CHECK(parsed.at(all).get<std::string>() == all);
  }

  TEST_CASE("malformed UTF-8 becomes U+FFFD") {
    CHECK(json_of("a\xFFz") == "\"a\uFFFDz\"\n");
    CHECK(well_formed("\xC0\xAF") == "\uFFFD\uFFFD");            // longer than needed
    CHECK(well_formed("\xED\xA0\x80") == "\uFFFD\uFFFD\uFFFD");  // a surrogate
    CHECK(well_formed("\xF4\x90\x80\x80").size() == 4 * 3);      // above 10FFFF
    CHECK(well_formed("\xE2\x80") == "\uFFFD");                  // cut short
    CHECK(well_formed("\xE2\x80(") == "\uFFFD(");
    CHECK(well_formed("\xF4\x8F\xBF\xBF") == "\xF4\x8F\xBF\xBF");  // the last code point
    std::string bytes;
    for (int c = 0; c < 256; ++c) bytes += static_cast<char>(c);
    CHECK_NOTHROW(nlohmann::json::parse(json_of(bytes)));
  }

  TEST_CASE("csv quotes what it must") {
    Document document;
    document.csv.columns = {{"name"}, {"time_s", true}};
    document.csv.rows = {{"a,b", "1.5"}, {"say \"x\"", ""}, {"two\nlines"}, {" plain ", "2"}};
    document.csv.totals = {"total", "3.5"};
    CHECK(write_csv(document) ==
          "name,time_s\n"
          "\"a,b\",1.5\n"
          "\"say \"\"x\"\"\",\n"
          "\"two\nlines\",\n"
          " plain ,2\n");
    document.csv.rows = {{"a", "1", "too many"}};
    CHECK_THROWS_AS(write_csv(document), std::logic_error);
  }

  TEST_CASE("csv: an empty record of one column is not an empty line") {
    Document document;
    CHECK(write_csv(document).empty());
    document.csv.columns = {{"name"}};
    document.csv.rows = {{""}, {"a"}};
    CHECK(write_csv(document) == "name\n\"\"\na\n");
  }

  TEST_CASE("table: fields, sentences, columns aligned by what is seen") {
    CHECK(write_table(small_document(), {}) ==
          "Floor\n"
          "device  h100_sxm\n"
          "time    100 ms\n"
          "\n"
          "Bound by memory.\n"
          "\n"
          "Operators\n"
          "op          time  binding\n"
          "-----------------------------\n"
          "qkv      12.5 us  hbm\n"
          "softmax     3 µs  vector.fp32\n"
          "-----------------------------\n"
          "total    15.5 us\n"
          "  cold: nothing in a cache\n");
    CHECK(write_table({}, {}).empty());
  }

  TEST_CASE("table: colour only where asked, never around trailing spaces") {
    Table table;
    table.title = "T";
    table.columns = {{"a"}, {"b"}};
    table.rows = {{"1", "wide"}};
    CHECK(write_table(with_table(table), {true, 80}) ==
          "\x1b[1mT\x1b[0m\n"
          "\x1b[2ma  b\x1b[0m\n"
          "\x1b[2m-------\x1b[0m\n"
          "1  wide\n");
  }

  TEST_CASE("table: too wide, the widest text columns are cut, numbers never") {
    Table table;
    table.columns = {{"kernel"}, {"bytes", true}, {"why"}};
    table.rows = {{std::string(40, 'k'), "123456789012", "short"}, {"a", "1", "µµµµµµµµµµ"}};
    // 30 = 4 of gutters + 12 of bytes + 8 + 6: the floor of 8 for both, so the table is 32 wide.
    CHECK(write_table(with_table(table), {false, 30}) ==
          "kernel           bytes  why\n"
          "--------------------------------\n"
          "kkkkkkk…  123456789012  short\n"
          "a                    1  µµµµµµµ…\n");
    // 46 - 4 - 12 - 10 = 20 for the kernel.
    CHECK(write_table(with_table(table), {false, 46})
              .starts_with("kernel                       bytes  why\n" + std::string(46, '-') +
                           "\n" + std::string(19, 'k') + "…  123456789012  short\n"));
    CHECK(write_table(with_table(table), {false, 0}).find("…") == std::string::npos);
  }

  TEST_CASE("table: sentences wrap between words and keep their indent") {
    CHECK(write_table(with_line("one two three four"), {false, 9}) == "one two\nthree\nfour\n");
    CHECK(write_table(with_line("  one two three"), {false, 9}) == "  one two\n  three\n");
    CHECK(write_table(with_line("a-word-longer-than-the-page b"), {false, 9}) ==
          "a-word-longer-than-the-page\nb\n");
    CHECK(write_table(with_line(""), {}) == "\n");
    Document document;
    document.sections.resize(1);
    document.sections[0].fields = {{"why", "memory is the limit"}, {"µ", ""}};
    CHECK(write_table(document, {false, 16}) == "why  memory is\n     the limit\nµ\n");
  }

  TEST_CASE("table: a name from a file cannot drive the terminal") {
    CHECK(write_table(with_line("a\x1b[31m\nb\tc\x7f\xC2\x9B\xFF"), {}) ==
          "a\\x1b[31m b c\\x7f\\x9b\uFFFD\n");
  }

  TEST_CASE("table: no line ends in a space, the text ends in one newline") {
    Document document = small_document();
    document.sections.push_back(document.sections[0]);
    document.sections[1].lines = {"x  ", ""};
    document.sections[1].tables[0].footnotes.clear();
    document.sections.push_back({"", {}, {"last", ""}, {}});
    const std::string text = write_table(document, {true, 20});
    CHECK(text.find(" \n") == std::string::npos);
    CHECK(text.ends_with("last\n"));
  }

  TEST_CASE("md: headings, tables, paragraphs") {
    CHECK(write_markdown(small_document()) ==
          "## Floor\n"
          "\n"
          "| field | value |\n"
          "| --- | --- |\n"
          "| device | h100_sxm |\n"
          "| time | 100 ms |\n"
          "\n"
          "Bound by memory.\n"
          "\n"
          "### Operators\n"
          "\n"
          "| op | time | binding |\n"
          "| --- | --: | --- |\n"
          "| qkv | 12.5 us | hbm |\n"
          "| softmax | 3 µs | vector.fp32 |\n"
          "| **total** | **15.5 us** | |\n"
          "\n"
          "cold: nothing in a cache\n");
    CHECK(write_markdown({}).empty());
  }

  TEST_CASE("md: text is shown as it is, not read as markup") {
    Table table;
    table.columns = {{"a|b"}};
    table.rows = {{"x<T>|y\nz"}, {"__global__ kv_cache *p"}};
    CHECK(write_markdown(with_table(table)) ==
          "| a\\|b |\n"
          "| --- |\n"
          "| x\\<T>\\|y z |\n"
          "| \\_\\_global\\_\\_ kv_cache \\*p |\n");
    CHECK(write_markdown(with_line("  # not a heading")) == "\\# not a heading\n");
    CHECK(write_markdown(with_line("")).empty());
  }

  TEST_CASE("write gives what the writer of the format gives") {
    Document document = small_document();
    document.json = Json::object().set("schema", 1);
    document.csv = small_table();
    CHECK(write(document, Format::table, {false, 20}) == write_table(document, {false, 20}));
    CHECK(write(document, Format::json, {}) == write_json(document));
    CHECK(write(document, Format::csv, {}) == write_csv(document));
    CHECK(write(document, Format::md, {}) == write_markdown(document));
  }
}
