// SPDX-License-Identifier: Apache-2.0
// Tables of others on the machine of tests/floor/test_machine.hpp: 1 TB/s, S_keep 1 MB.
#include "validation/verdict/table_verdict.hpp"

#include <doctest/doctest.h>

#include "tests/floor/test_machine.hpp"

using namespace floorline;
using namespace floorline::testing;

namespace {

const std::string kMapping = R"(schema = 1
kind = "mapping"
device_column = "gpu"
op = "copy bytes={size} path={way}"
value = "time"
unit = "us"
[values.gpu]
"Round 1" = "round"
[values.way]
inside = "d2d"
)";

TableJudgement judged(const std::string& csv, const std::string& mapping = kMapping) {
  static const Machine machine = round_machine();
  return judge_table(CsvTable::parse(csv, "t.csv"), parse_mapping(mapping, "m.toml"),
                     [](const std::string& name) -> const Machine& {
                       if (name == "round") return machine;
                       throw InputError(Diagnostic{position_in(name), "", "no such device"});
                     });
}

std::string refusal(const std::string& csv, const std::string& mapping = kMapping) {
  try {
    judged(csv, mapping);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

const std::string kHeader = "gpu,size,way,time\n";

}  // namespace

TEST_SUITE("validation") {
  TEST_CASE("rows against 200 us cold and 198 us at any residency") {
    const TableJudgement t = judged(kHeader +
                                    "Round 1,100MB,inside,250\nRound 1,100MB,inside,199\n"
                                    "Round 1,100MB,inside,197\nRound 1,200MB,inside,300\n"
                                    "Round 1,200MB,inside,301\n");
    REQUIRE(t.rows.size() == 5);
    CHECK(t.rows[0].finding == RowFinding::possible);
    CHECK(t.rows[0].cold.in_base_units() == doctest::Approx(200e-6));
    CHECK(t.rows[0].any.in_base_units() == doctest::Approx(198e-6));
    CHECK(t.rows[1].finding == RowFinding::warm);
    CHECK(t.rows[2].finding == RowFinding::unconfirmed);
    CHECK(t.rows[2].doubts.front().symbol == "D");
    CHECK(t.rows[3].finding == RowFinding::floor_violated);  // 398 us; seen twice
    CHECK(t.rows[4].finding == RowFinding::floor_violated);
    CHECK(t.rows[4].place == "t.csv:6");
    CHECK(t.count(RowFinding::floor_violated) == 2);
  }

  TEST_CASE("overlapping calls are judged with S_all; rates become times; expectations stand by") {
    std::string mapping = kMapping;
    mapping.replace(mapping.find("unit = \"us\""), 11,
                    "unit = \"GB/s\"\noverlap = true\nexpected = \"model\"");
    // 200 MB at 1012 GB/s = 197.6 us: below 198 us with S_keep, above (98 + 98) us with S_all.
    const TableJudgement t =
        judged("gpu,size,way,time,model\nRound 1,100MB,inside,1012,800\n", mapping);
    CHECK(t.rows[0].finding == RowFinding::warm);
    CHECK(t.rows[0].any.in_base_units() == doctest::Approx(196e-6));
    CHECK(t.rows[0].time.in_base_units() == doctest::Approx(200e6 / 1012e9));
    CHECK(t.rows[0].expected->in_base_units() == doctest::Approx(250e-6));
  }

  TEST_CASE("every row that cannot be read is told with its place") {
    const std::string message = refusal(kHeader +
                                        "Round 1,100MB,inside,-5\nRound 2,1MB,inside,5\n"
                                        "Round 1,100MB,sideways,5\n");
    CHECK(message.find("t.csv:2:") != std::string::npos);
    CHECK(message.find("t.csv:3:") != std::string::npos);
    CHECK(message.find("t.csv:4:") != std::string::npos);
  }

  TEST_CASE("mappings that do not fit") {
    const auto with = [](const char* what, const char* value) {
      std::string text = kMapping;
      return text.replace(text.find(what), std::string(what).size(), value);
    };
    const std::string row = kHeader + "Round 1,100MB,inside,5\n";
    CHECK(refusal(row, with("{size}", "{sizes}")).find("did you mean \"size\"") !=
          std::string::npos);
    CHECK(refusal(row, with("{size}", "{size")).find("op:") != std::string::npos);
    CHECK(refusal(row, with("\"us\"", "\"GB\"")).find("no unit of a time or a rate") !=
          std::string::npos);
    CHECK(refusal(row, with("\"mapping\"", "\"map\"")).find("kind = \"mapping\"") !=
          std::string::npos);
    CHECK(refusal(row, with("device_column", "device_colum")).find("device_column") !=
          std::string::npos);
    CHECK(refusal(row, with("value = \"time\"", "value = \"times\"")).find("value:") !=
          std::string::npos);
  }
}
