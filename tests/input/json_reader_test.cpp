// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdio>
#include <fstream>

#include "model/input/diagnostic.hpp"
#include "model/input/document_node.hpp"

using namespace floorline;

namespace {

std::string errors_of(std::string_view text) {
  try {
    parse_json(text, "j.json");
    return "";
  } catch (const InputError& e) {
    return e.what();
  }
}

std::string read_errors(const std::string& path) {
  try {
    read_document(path);
    return "";
  } catch (const InputError& e) {
    return e.what();
  }
}

std::string at(const Node& node) {
  return std::to_string(node.at.line) + ":" + std::to_string(node.at.column);
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

}  // namespace

TEST_SUITE("input") {
  TEST_CASE("JSON: kinds, values and positions") {
    const Node root = parse_json(
        "\xEF\xBB\xBF{\"a\": 12,\n"
        "  \"\u00e9\" : [-1, 2.5e3,true , null,\"x\\\"]\"],\n"
        "  \"t\":{\"n\":1}}",
        "j.json");
    REQUIRE(root.members.size() == 3);
    CHECK(at(root) == "1:1");
    CHECK(at(*root.find("a")) == "1:7");
    CHECK(root.find("a")->integer == 12);
    CHECK(root.find("a")->real == 12.0);
    CHECK(root.members[1].at.line == 2);
    CHECK(root.members[1].at.column == 3);
    const Node& list = root.members[1].value;
    REQUIRE(list.items.size() == 5);
    CHECK(at(list) == "2:9");
    CHECK(at(list.items[0]) == "2:10");
    CHECK(at(list.items[1]) == "2:14");
    CHECK(list.items[1].kind == Node::Kind::real);
    CHECK(list.items[1].real == 2500.0);
    CHECK(at(list.items[2]) == "2:20");
    CHECK(list.items[2].boolean);
    CHECK(at(list.items[3]) == "2:27");
    CHECK(list.items[3].kind == Node::Kind::null);
    CHECK(at(list.items[4]) == "2:32");
    CHECK(list.items[4].text == "x\"]");
    CHECK(at(*root.find("t")) == "3:7");
    CHECK(at(*root.find("t")->find("n")) == "3:12");
    CHECK(*root.at.file == "j.json");
  }

  TEST_CASE("JSON: every duplicate key is reported, with the first place") {
    CHECK(errors_of("{\"a\":1,\n\"b\":{\"c\":1,\"c\":2},\n\"a\":3,\n\"a\":4}") ==
          "j.json:2:12: error: the key \"c\" stands twice, first at line 2\n"
          "j.json:3:1: error: the key \"a\" stands twice, first at line 1\n"
          "j.json:4:1: error: the key \"a\" stands twice, first at line 1");
  }

  TEST_CASE("JSON: numbers that do not fit are errors with their key") {
    CHECK(parse_json("[9223372036854775807,-9223372036854775808]", "j").items[0].integer ==
          9223372036854775807LL);
    const std::string too_large =
        ": the integer does not fit 64 bits; write a large number as 1.5e20";
    CHECK(errors_of("{\"a\":\n [1, 9223372036854775808]}") ==
          "j.json:2:6: error: a[1]" + too_large);
    CHECK(errors_of("{\"x y\":-123456789012345678901}") ==
          "j.json:1:8: error: \"x y\"" + too_large);
    CHECK(parse_json("1e20", "j").real == 1e20);
    CHECK(errors_of("[1,\n1e999]") == "j.json:2:1: error: expected a finite number, not 1e999");
    CHECK(!errors_of("[NaN]").empty());
    CHECK(!errors_of("[-Infinity]").empty());
  }

  TEST_CASE("JSON: syntax errors say where") {
    CHECK(
        errors_of("{\"a\": 1,}").starts_with("j.json:1:9: error: not valid JSON: unexpected '}'"));
    CHECK(
        errors_of("{\"a\" 1}").starts_with("j.json:1:6: error: not valid JSON: unexpected number"));
    CHECK(errors_of("[1, 2").starts_with("j.json:1:6: error: not valid JSON: unexpected end"));
    CHECK(errors_of("").starts_with("j.json:1:1: error: not valid JSON: "));
    CHECK(errors_of("{} x").starts_with("j.json:1:4: error: not valid JSON: "));
    CHECK(errors_of("[\"a\xff\"]").starts_with("j.json:1:4: error: not valid JSON: "));
    CHECK(errors_of("[1] // no").starts_with("j.json:1:"));
    CHECK(errors_of("[\"a\n\"]").starts_with("j.json:1:4: error: not valid JSON: "));
    CHECK(errors_of("{\"a\": tru}") == "j.json:1:10: error: not valid JSON: invalid literal");
    CHECK(errors_of("[1}") == "j.json:1:3: error: not valid JSON: unexpected '}'; expected ']'");
    CHECK(errors_of("{'a': 1}") ==
          "j.json:1:2: error: not valid JSON: invalid literal; expected string literal");
  }

  TEST_CASE("JSON: nesting and size have limits") {
    CHECK(errors_of(repeated("[", 64) + repeated("]", 64)).empty());
    CHECK(errors_of(repeated("[", 65) + repeated("]", 65)) ==
          "j.json:1:65: error: tables or arrays nested more than 64 deep");
    CHECK(errors_of(repeated("[", 100'000)).find("more than 64 deep") != std::string::npos);
    CHECK(errors_of(repeated("{\"a\":", 100'000)).find("more than 64 deep") != std::string::npos);
    CHECK(errors_of("[" + repeated("1,", 4'000'000) + "1]").find("more than 4000000 values") !=
          std::string::npos);
  }

  TEST_CASE("documents are told apart by their content") {
    CHECK(parse_document(" \n{\"a\": 1}", "f").find("a")->integer == 1);
    CHECK(parse_document("[ {\"a\": 1}]", "f").items.size() == 1);
    CHECK(parse_document("[a]\nb = 1", "f").find("a")->find("b")->integer == 1);
    CHECK(parse_document("[[a]]\nb = 1", "f").find("a")->items.size() == 1);
    CHECK(parse_document("# only a comment", "f").members.empty());
  }

  TEST_CASE("files: missing, a folder, and too large are errors without a line") {
    CHECK(read_errors("/nonexistent/x.toml") ==
          "/nonexistent/x.toml: error: cannot open: no such file");
    CHECK(read_errors(std::string("a\0b", 3)).find("no such file") != std::string::npos);
    CHECK(read_errors("/").find("it is a folder") != std::string::npos);
    CHECK(read_errors("/dev/zero") == "/dev/zero: error: cannot open: not a regular file");
    const std::string path = "floorline_json_reader_test.json";
    std::ofstream(path) << "3";
    CHECK(read_document(path).integer == 3);  // by its name: as TOML this is an error
    std::remove(path.c_str());
  }

  TEST_CASE("paths in messages") {
    CHECK(join_key("", "a") == "a");
    CHECK(join_key("a", "b-c_1") == "a.b-c_1");
    CHECK(join_key("a", "b.c") == "a.\"b.c\"");
    CHECK(join_key("a", std::string(200, 'k')) == "a." + std::string(100, 'k') + "...");
    CHECK(join_index("op", 3) == "op[3]");
    CHECK(name_of(Node::Kind::integer) == "an integer");
  }
}
