// SPDX-License-Identifier: Apache-2.0
#include "model/ledger/ledger.hpp"

#include <doctest/doctest.h>

#include <limits>

using namespace floorline;

namespace {

LedgerEntry line(const char* name, std::int64_t bytes, Lifetime alive) {
  LedgerEntry entry;
  entry.name = name;
  entry.bytes = ByteCount(bytes);
  entry.alive = alive;
  return entry;
}

}  // namespace

TEST_SUITE("ledger") {
  TEST_CASE("the peak is the largest sum alive at one instant, not the sum of all lines") {
    MemoryLedger ledger;
    ledger.instants = {"load", "profile", "serve"};
    ledger.lines = {line("weights", 100, Lifetime::all(3)), line("loader", 30, Lifetime::at(0)),
                    line("prefill", 45, Lifetime::at(1)), line("kv_cache", 40, Lifetime::at(2))};
    CHECK(alive_at(ledger, 0) == ByteCount(130));
    CHECK(alive_at(ledger, 1) == ByteCount(145));
    CHECK(alive_at(ledger, 2) == ByteCount(140));
    CHECK(peak_of(ledger).bytes == ByteCount(145));
    CHECK(peak_of(ledger).at == 1);
    const std::vector<std::size_t> alive = lines_at(ledger, 1);
    REQUIRE(alive.size() == 2);
    CHECK(alive[0] == 0);
    CHECK(alive[1] == 2);
  }

  TEST_CASE("the high end of an interval decides, the low end is told apart") {
    MemoryLedger ledger;
    ledger.instants = {"serve"};
    ledger.lines = {
        line("weights", 100, Lifetime::at(0)),
        interval_entry("graphs", {ByteCount(5), ByteCount(20)}, Lifetime::at(0), "", "")};
    CHECK(peak_of(ledger).bytes == ByteCount(120));
    CHECK(least_peak_of(ledger).bytes == ByteCount(105));
    CHECK_FALSE(headroom(peak_of(ledger).bytes, {ByteCount(110), ""}).fits);
    CHECK(headroom(least_peak_of(ledger).bytes, {ByteCount(110), ""}).fits);
  }

  TEST_CASE("one byte short is short; equal fits; overflow never fits") {
    CHECK(headroom(ByteCount(10), {ByteCount(10), ""}).fits);
    CHECK_FALSE(headroom(ByteCount(11), {ByteCount(10), ""}).fits);
    CHECK(headroom(ByteCount(11), {ByteCount(10), ""}).remaining == -1);
    const Headroom never =
        headroom(ByteCount::overflow(), {ByteCount(std::numeric_limits<std::int64_t>::max()), ""});
    CHECK_FALSE(never.fits);
    CHECK_FALSE(never.remaining.has_value());
  }

  TEST_CASE("what text rounded above 2^53 never makes a fit") {
    // 9007199254740993 = 2^53 + 1 reads as 2^53: as a need it is taken up, as a budget down.
    CHECK(whole_need(Bytes(9007199254740992.0)) > whole_budget(Bytes(9007199254740992.0)));
    CHECK(whole_need(Bytes(9007199254740991.0)) == whole_budget(Bytes(9007199254740991.0)));
  }

  TEST_CASE("a lifetime holds up to 64 instants") {
    CHECK(Lifetime::all(64).holds(63));
    CHECK_FALSE(Lifetime::all(63).holds(63));
    CHECK_FALSE(Lifetime::at(3).with(64).holds(64));
    CHECK(Lifetime().empty());
  }
}
