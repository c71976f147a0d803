// SPDX-License-Identifier: Apache-2.0
#include "model/input/diagnostic.hpp"

#include <doctest/doctest.h>

using namespace floorline;

TEST_SUITE("input") {
  TEST_CASE("a diagnostic is one line: place, key path, message") {
    CHECK(to_text({position_in("a.toml", 5, 13), "memory.hbm", "bad"}) ==
          "a.toml:5:13: error: memory.hbm: bad");
    CHECK(to_text({position_in("a.toml", 5), "", "bad"}) == "a.toml:5: error: bad");
    CHECK(to_text({position_in("a.toml"), "", "bad"}) == "a.toml: error: bad");
    CHECK(to_text({{}, "", "bad"}) == "error: bad");
    CHECK(to_text({{}, "a\nb", "tab\t, bell\x07"}) == "error: a\\nb: tab\\t, bell\\x07");
  }

  TEST_CASE("an input error holds all diagnostics and prints one a line") {
    Diagnostics diagnostics;
    CHECK(diagnostics.empty());
    diagnostics.throw_if_any();
    diagnostics.add(position_in("a.toml", 2, 1), "y", "second");
    diagnostics.add(position_in("a.toml", 1, 1), "x", "first");
    CHECK(diagnostics.size() == 2);
    try {
      diagnostics.throw_if_any();
      FAIL("must throw");
    } catch (const InputError& e) {
      CHECK(e.diagnostics().size() == 2);
      CHECK(std::string(e.what()) == "a.toml:1:1: error: x: first\na.toml:2:1: error: y: second");
    }
  }

  TEST_CASE("control characters of a second set, in UTF-8, do not reach a terminal either") {
    CHECK(to_text({{},
                   "",
                   "a\xC2\x9B"
                   "31m"}) == "error: a\\x9b31m");
    CHECK(to_text({{}, "", "\xC2\xA0\xC3\x9B"}) == "error: \xC2\xA0\xC3\x9B");
    CHECK(to_text({{}, "", "\xC2"}) == "error: \xC2");
  }

  TEST_CASE("a name is not blank and has no control characters") {
    CHECK(wrong_name("weights").empty());
    CHECK(wrong_name("K\xC3\xA4se").empty());
    CHECK(!wrong_name("").empty());
    CHECK(!wrong_name(" \t").empty());
    CHECK(!wrong_name("a\x1b[31m").empty());
    CHECK(!wrong_name("a\xC2\x9B").empty());
  }

  TEST_CASE("what one reader refuses is kept, and the next one is read") {
    Diagnostics all;
    collect(all, [] { throw InputError(Diagnostic{position_in("f", 1, 1), "a", "bad"}); });
    const auto two = collected(all, [] { return 2; });
    const auto none = collected(all, []() -> int {
      throw InputError(Diagnostic{position_in("f", 2, 1), "b", "bad"});
    });
    CHECK(two == 2);
    CHECK(!none);
    CHECK(all.size() == 2);
  }

  TEST_CASE("the same diagnostic twice is one") {
    Diagnostics diagnostics;
    diagnostics.add(position_in("a.toml", 1, 1), "x", "bad");
    diagnostics.add(position_in("a.toml", 1, 1), "x", "bad");
    diagnostics.add(position_in("a.toml", 1, 2), "x", "bad");
    CHECK(diagnostics.size() == 2);
  }

  TEST_CASE("a hostile file cannot make endless or huge messages") {
    Diagnostics diagnostics;
    for (std::uint32_t line = 1; line < 3000; ++line) {
      diagnostics.add(position_in("a.toml", line, 1), std::string(5000, 'k'), "bad");
    }
    CHECK(diagnostics.full());
    CHECK(diagnostics.size() == 1001);
    try {
      diagnostics.throw_if_any();
    } catch (const InputError& e) {
      CHECK(e.diagnostics().front().key_path.size() == 303);  // 300 and "..."
      CHECK(to_text(e.diagnostics().back()) == "a.toml: error: more errors are not shown");
    }
  }

  TEST_CASE("the nearest name is the one that was meant, or none") {
    const std::vector<std::string> names{"bandwidth", "capacity", "latency", "tp"};
    CHECK(nearest_name("bandwith", names) == "bandwidth");   // one missing
    CHECK(nearest_name("badnwidth", names) == "bandwidth");  // two swapped
    CHECK(nearest_name("Capacity", names) == "capacity");    // case
    CHECK(nearest_name("colour", names).empty());
    CHECK(nearest_name("pt", names) == "tp");  // a swap is one step
    CHECK(nearest_name("", names).empty());
    CHECK(nearest_name("latency", {}).empty());
    CHECK(nearest_name(std::string(100000, 'x'), names).empty());
    // 9 letters allow three steps: "bandwxyzh" is three away, "bawwxyzh" is more.
    CHECK(nearest_name("bandwxyzh", names) == "bandwidth");
    CHECK(nearest_name("bawwxyzh", names).empty());
  }

  TEST_CASE("did you mean") {
    CHECK(did_you_mean("bandwith", {"bandwidth"}) == "; did you mean \"bandwidth\"?");
    CHECK(did_you_mean("bandwidth", {"bandwidth"}).empty());
    CHECK(did_you_mean("zzz", {"bandwidth"}).empty());
    CHECK(did_you_mean("x", {"n"}).empty());  // one letter instead of another is no hint
    // The last or first parts of a name come before letters.
    const std::vector<std::string> keys{"link.peer.bandwidth", "memory.hbm.bandwidth", "kv_dtype",
                                        "k"};
    CHECK(did_you_mean("hbm.bandwidth", keys) == "; did you mean \"memory.hbm.bandwidth\"?");
    CHECK(did_you_mean("bandwidth", keys) ==
          "; did you mean \"link.peer.bandwidth\" or \"memory.hbm.bandwidth\"?");
    CHECK(did_you_mean("kv", keys) == "; did you mean \"kv_dtype\"?");
    CHECK(nearest_name("kv", keys) == "kv_dtype");
    CHECK(nearest_name("andwidth", keys).empty());  // no whole part
  }

  TEST_CASE("all names are listed, what was meant first") {
    CHECK(names_there_are("cc", {"a", "b"}) == "; there are a, b");
    CHECK(names_there_are("heads", {"m", "q_heads", "n", "kv_heads"}) ==
          "; did you mean \"q_heads\" or \"kv_heads\"? There are q_heads, kv_heads, m, n");
    constexpr const char* kRest =
        ", fp64, fp32, tf32, bf16, fp16, fp8_e4m3, fp8_e5m2, fp6, fp4, mxfp4, nvfp4, int8, int4, "
        "int32";
    CHECK(not_a_precision("FP8") ==
          "\"FP8\" is not a precision; did you mean \"fp8\"? There are fp8, fp8_e4m3, fp8_e5m2, "
          "fp64, fp32, tf32, bf16, fp16, fp6, fp4, mxfp4, nvfp4, int8, int4, int32");
    CHECK(not_a_precision("xyz") ==
          std::string("\"xyz\" is not a precision; there are fp8") + kRest);
    CHECK(not_a_precision("half").find("; did you mean \"fp16\"? There are fp16, fp8, fp64") !=
          std::string::npos);
    CHECK(not_a_precision("any").find("; there are") != std::string::npos);
    CHECK(not_a_precision(std::string(100000, 'x')).size() < 300);
  }
}
