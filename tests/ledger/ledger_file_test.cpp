// SPDX-License-Identifier: Apache-2.0
#include "model/ledger/ledger_file.hpp"

#include <doctest/doctest.h>

#include <string>

#include "model/input/diagnostic.hpp"

using namespace floorline;

namespace {

std::string errors_of(const std::string& text) {
  try {
    parse_ledger(text, "l.toml");
  } catch (const InputError& e) {
    std::string all;
    for (const Diagnostic& d : e.diagnostics()) all += to_text(d) + "\n";
    return all;
  }
  return "";
}

bool says(const std::string& all, const char* part) { return all.find(part) != std::string::npos; }

constexpr const char* kHead = "schema = 1\nkind = \"ledger\"\n";

}  // namespace

TEST_SUITE("ledger") {
  TEST_CASE("a ledger file: lines, lifetimes, ranges, a budget and its share") {
    const LedgerDocument d = parse_ledger(std::string(kHead) +
                                              "name = \"n\"\n"
                                              "budget = \"10 GB\"\n"
                                              "utilization = 0.5\n"
                                              "phases = [\"load\", \"serve\"]\n"
                                              "[[line]]\nname = \"weights\"\nbytes = \"1 GiB\"\n"
                                              "[[line]]\nname = \"graphs\"\nalive = [\"serve\"]\n"
                                              "interval = [\"1 MB\", \"2.5 MB\"]\n",
                                          "l.toml");
    REQUIRE(d.ledger.lines.size() == 2);
    CHECK(d.ledger.lines[0].alive == Lifetime::all(2));
    CHECK(d.ledger.lines[0].bytes == ByteCount(1073741824));
    CHECK(d.ledger.lines[1].evidence == Evidence::interval);
    CHECK(d.ledger.lines[1].bytes == ByteCount(2500000));
    CHECK(d.ledger.lines[1].interval->low == ByteCount(1000000));
    REQUIRE(d.budget);
    CHECK(d.budget->bytes == ByteCount(5000000000));
    CHECK(peak_of(d.ledger).at == 1);
  }

  TEST_CASE("all that is wrong with a ledger file is told at once") {
    const std::string all = errors_of(
        std::string(kHead) +
        "budget = \"10 GBs\"\nphases = [\"load\", \"load\"]\n"
        "[[line]]\nname = \"kv_cache\"\ninterval = [\"1 MB\", \"2 MB\"]\n"
        "[[line]]\nname = \"a\"\nbytes = \"1 GB\"\nalive = [\"laod\"]\nevidence = \"sure\"\n"
        "[[line]]\nname = \"a\"\nbyte = \"1 GB\"\n");
    CHECK(says(all, "l.toml:3:10: error: budget"));
    CHECK(says(all, "phases: \"load\" is there twice"));
    CHECK(says(all, "line[0].evidence: kv_cache is counted, never an interval"));
    CHECK(says(all, "did you mean \"load\"?"));
    CHECK(says(all, "line[1].evidence: \"sure\" is not one of exact, formula, interval"));
    CHECK(says(all, "line[2].name: line \"a\" is there already"));
    CHECK(says(all, "line[2].bytes"));
    CHECK(says(all, "line[2].byte"));
  }

  TEST_CASE("a range whose ends are the wrong way round, a negative size, no lines") {
    CHECK(says(
        errors_of(std::string(kHead) + "[[line]]\nname = \"a\"\ninterval = [\"2 MB\", \"1 MB\"]\n"),
        "the first size is above the second"));
    CHECK(says(errors_of(std::string(kHead) + "[[line]]\nname = \"a\"\nbytes = \"-1 MB\"\n"),
               "line[0].bytes"));
    CHECK(says(errors_of(kHead), "line"));
    CHECK(says(errors_of("kind = \"ledger\"\n"), "expected schema = 1"));
  }

  TEST_CASE("NAME=BYTES: the text of a size, not a byte's fraction, decides") {
    // 1.1 x 10^9 is 1,100,000,000.0000002 as a double.
    CHECK(parse_line("a=1.1GB", Lifetime::all(1)).bytes == ByteCount(1100000000));
    CHECK(parse_line("a=0.5 B", Lifetime::all(1)).bytes == ByteCount(1));  // a need rounds up
    CHECK(parse_budget("0.5 B", "--budget") == ByteCount(0));              // a budget down
    CHECK(parse_line("a=1e30B", Lifetime::all(1)).bytes.overflowed());
    CHECK_THROWS_AS(parse_line("14GB", Lifetime::all(1)), InputError);
    CHECK_THROWS_AS(parse_line("=14GB", Lifetime::all(1)), InputError);
    CHECK_THROWS_AS(parse_line("a=14", Lifetime::all(1)), InputError);
    CHECK_THROWS_AS(parse_budget("1e30 B", "--budget"), InputError);
  }
}
