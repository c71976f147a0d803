// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "model/input/diagnostic.hpp"
#include "model/input/document_node.hpp"

using namespace floorline;

namespace {

/// What parsing prints; "" when all is well.
std::string errors_of(std::string_view text) {
  try {
    parse_toml(text, "t.toml");
    return "";
  } catch (const InputError& e) {
    return e.what();
  }
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

}  // namespace

TEST_SUITE("input") {
  TEST_CASE("TOML: kinds, values and positions") {
    const Node root = parse_toml(
        "schema = 1\n"
        "name = \"h\u00e9\"\n"
        "[memory.hbm]\n"
        "  rate = 1.5\n"
        "ok = true\n"
        "list = [1, \"two\", { three = 3 }]\n",
        "t.toml");
    REQUIRE(root.members.size() == 3);
    const Node* schema = root.find("schema");
    REQUIRE(schema);
    CHECK(schema->kind == Node::Kind::integer);
    CHECK(schema->integer == 1);
    CHECK(schema->real == 1.0);
    CHECK(schema->at.line == 1);
    CHECK(schema->at.column == 10);
    CHECK(*schema->at.file == "t.toml");
    CHECK(root.find("name")->text == "h\u00e9");
    const Node* hbm = root.find("memory")->find("hbm");
    REQUIRE(hbm);
    CHECK(hbm->at.line == 3);
    CHECK(hbm->find("rate")->kind == Node::Kind::real);
    CHECK(hbm->find("rate")->real == 1.5);
    CHECK(hbm->members[0].at.line == 4);
    CHECK(hbm->members[0].at.column == 3);
    CHECK(hbm->find("ok")->boolean);
    const Node* list = hbm->find("list");
    REQUIRE(list->items.size() == 3);
    CHECK(list->items[1].at.column == 12);
    CHECK(list->items[2].find("three")->integer == 3);
    CHECK(root.find("none") == nullptr);
  }

  TEST_CASE("TOML: keys keep the order of the file, tables of an array too") {
    const Node root = parse_toml("z = 1\na = 2\n[[op]]\nn = 1\n[m]\n[[op]]\nn = 2\n", "t.toml");
    REQUIRE(root.members.size() == 4);
    CHECK(root.members[0].key == "z");
    CHECK(root.members[1].key == "a");
    CHECK(root.members[2].key == "op");
    CHECK(root.members[3].key == "m");
    REQUIRE(root.find("op")->items.size() == 2);
    CHECK(root.find("op")->items[1].find("n")->integer == 2);
  }

  TEST_CASE("TOML: columns count characters, 3.0 is not 3") {
    const Node root = parse_toml("\"\u00e9\u00e9\" = 3.0", "t.toml");
    CHECK(root.members[0].value.at.column == 8);
    CHECK(root.members[0].value.kind == Node::Kind::real);
  }

  TEST_CASE("TOML: a syntax error has a position") {
    CHECK(errors_of("a = 1\nb 2\n").starts_with("t.toml:2:3: error: not valid TOML: "));
    CHECK(errors_of("a = 1\na = 2\n").find("t.toml:2:") == 0);
    CHECK(errors_of("a = \"\xff\"\n").find("not valid TOML") != std::string::npos);
    CHECK(errors_of("a = 9223372036854775808\n").find("t.toml:1:") == 0);
    CHECK(errors_of("a = [1, 2").find("not valid TOML") != std::string::npos);
  }

  TEST_CASE("TOML: dates, nan and inf are errors that name the key, all in one go") {
    CHECK(errors_of(
              "[x]\nwhen = 2024-01-01\nt = [07:32:00, 1979-05-27T07:32:00Z]\nv = nan\nw = -inf") ==
          "t.toml:2:8: error: x.when: dates and times are not used; write text in quotes\n"
          "t.toml:3:6: error: x.t[0]: dates and times are not used; write text in quotes\n"
          "t.toml:3:16: error: x.t[1]: dates and times are not used; write text in quotes\n"
          "t.toml:4:5: error: x.v: expected a finite number\n"
          "t.toml:5:5: error: x.w: expected a finite number");
    CHECK(!errors_of("a = 1e999").empty());
  }

  TEST_CASE("TOML: nesting stops at 64") {
    CHECK(errors_of("a = " + repeated("[", 63) + repeated("]", 63)).empty());
    CHECK(errors_of("a = " + repeated("[", 64) + repeated("]", 64)) ==
          "t.toml:1:68: error: a" + repeated("[0]", 63) +
              ": tables or arrays nested more than 64 deep");
    CHECK(errors_of("a = " + repeated("[", 100'000)) ==
          "t.toml:1:69: error: tables or arrays nested more than 64 deep");
    CHECK(errors_of("a = " + repeated("{a=", 100'000)).find("more than 64 deep") !=
          std::string::npos);
    CHECK(errors_of(repeated("a.", 100'000) + "a = 1").find("more than 64 parts") !=
          std::string::npos);
    CHECK(errors_of("[" + repeated("a.", 100'000) + "a]").find("more than 64 parts") !=
          std::string::npos);
    CHECK(errors_of("[" + repeated("\"[a\" . ", 40) + "a]\n" + repeated("a.", 40) + "b = 1")
              .find("more than 64 deep") != std::string::npos);
  }

  TEST_CASE("TOML: the guard is not fooled by strings and comments") {
    const std::string brackets = repeated("[", 200) + repeated("a.", 200);
    CHECK(errors_of("# " + brackets + "\na = 1").empty());
    CHECK(errors_of("a = \"\\\"" + brackets + "\"").empty());
    CHECK(errors_of("a = '\\" + brackets + "'").find("not valid") == std::string::npos);
    CHECK(errors_of("a = \"\"\"\n\" " + brackets + "\n\"\"\"\"\"\nb = 1").empty());
    CHECK(errors_of("a = '''" + brackets + "'''").empty());
    CHECK(errors_of("a = \"\"\nb = " + brackets).find("more than 64 deep") != std::string::npos);
    CHECK(errors_of("a = \"\"\"\"\"\" # " + brackets).empty());
    CHECK(errors_of("a = [" + repeated("1.5, ", 60'000) + "]").empty());
  }

  TEST_CASE("TOML: what takes quadratic time in toml++ is refused") {
    std::string keys;
    for (int i = 1; i < 100'002; ++i) keys += "a" + std::to_string(i) + ".b = 1\n";
    const std::string reason =
        ": error: more than 100000 dotted keys and [[tables]]; write a file of this size as JSON";
    CHECK(errors_of(keys) == "t.toml:100001:11" + reason);
    CHECK(errors_of(repeated("[[a]]\n", 100'001)) == "t.toml:100001:2" + reason);
    CHECK(errors_of(repeated("[a]\n", 100'001)).find("dotted") == std::string::npos);
    CHECK(errors_of("a = [" + repeated("1,", 4'000'001) + "]").find("more than 4000000 values") !=
          std::string::npos);
  }
}
