// SPDX-License-Identifier: Apache-2.0
#include "validation/observation/csv_table.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

using namespace floorline;

namespace {

/// The messages of what is wrong with the text, one a line.
std::string refusal(const std::string& text, const CsvLimits& limits = {}) {
  try {
    CsvTable::parse(text, "t.csv", limits);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& bytes)
      : path_(std::filesystem::temp_directory_path() /
              ("floorline_csv_" + std::to_string(getpid()) + ".gz")) {
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  TemporaryFile(TemporaryFile&&) = delete;
  TemporaryFile& operator=(TemporaryFile&&) = delete;
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

std::string refusal_of_file(const std::string& bytes, const CsvLimits& limits = {}) {
  const TemporaryFile file(bytes);
  try {
    CsvTable::read(file.path(), limits);
  } catch (const InputError& error) {
    return error.diagnostics().front().message;
  }
  return "";
}

// "gpu,n\nx,7\n" by gzip
const std::string kPacked(
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x4b\x2f\x28\xd5\xc9"
    "\xe3\xaa\xd0\x31\xe7\x02\x00\xe0\x70\xff\x5b\x0a\x00\x00\x00",
    30);

}  // namespace

TEST_SUITE("validation") {
  TEST_CASE("csv: cells by column name, with their places") {
    const CsvTable table = CsvTable::parse("gpu,m,time\nh100,16,1.5\nl40s,,2\r\n", "t.csv");
    REQUIRE(table.row_count() == 2);
    CHECK(table.names() == std::vector<std::string>{"gpu", "m", "time"});
    CHECK(table.column("time") == 2);
    CHECK_FALSE(table.column("Time"));
    CHECK(table.cell(0, 0) == "h100");
    CHECK(table.cell(0, 2) == "1.5");
    CHECK(table.cell(1, 1).empty());
    CHECK(table.cell(1, 2) == "2");  // a carriage return ends the line
    CHECK(CsvTable::line(1) == 3);
    CHECK(table.position(0, 1).line == 2);
    CHECK(table.position(0, 1).column == 6);  // after "h100,"
  }

  TEST_CASE("csv: a last line without a line feed is a row, a header alone is none") {
    CHECK(CsvTable::parse("a,b\n1,2", "t.csv").row_count() == 1);
    CHECK(CsvTable::parse("\xEF\xBB\xBF"
                          "a,b\n1,2",
                          "t.csv")
              .column("a") == 0);  // BOM
    CHECK(CsvTable::parse("a,b\n", "t.csv").row_count() == 0);
  }

  TEST_CASE("csv: cells hold after the table has moved") {
    CsvTable table = CsvTable::parse("a\nx\n", "t.csv");
    const std::string_view cell = table.cell(0, 0);
    const CsvTable moved = std::move(table);
    CHECK(moved.cell(0, 0).data() == cell.data());
  }

  TEST_CASE("csv: every mistake of a file at once, with line and column") {
    CHECK(refusal("a,b\n1\n1,2,3\n1,2\n\n1,\"2\"\n\t1,2\n") ==
          "t.csv:2:1: error: 1 fields; the header has 2\n"
          "t.csv:3:1: error: 3 fields; the header has 2\n"
          "t.csv:5:1: error: an empty line; expected a row\n"
          "t.csv:6:3: error: a quote; these tables have none\n"
          "t.csv:7:1: error: a control character; expected plain text");
  }

  TEST_CASE("csv: a header that names no column, or one twice") {
    CHECK(refusal("") == "t.csv: error: empty; expected a header line with column names");
    CHECK(refusal("a,,a\n1,2,3\n") ==
          "t.csv:1:3: error: a column without a name\n"
          "t.csv:1:4: error: column \"a\" is there twice");
    CHECK(refusal(std::string("a\0b\n", 4)).find("control character") != std::string::npos);
  }

  TEST_CASE("csv: limits of size and columns") {
    CHECK(refusal("a,b,c\n", {.columns = 2}) == "t.csv:1:1: error: 3 columns; expected at most 2");
    CHECK(refusal(std::string(3U << 20U, 'x'), {.text_bytes = 2U << 20U}) ==
          "t.csv: error: more than 2 MiB, the limit");
  }

  TEST_CASE("csv: gzip is told by its first bytes") {
    const TemporaryFile file(kPacked);
    const CsvTable table = CsvTable::read(file.path());
    REQUIRE(table.row_count() == 1);
    CHECK(table.cell(0, 0) == "x");
    CHECK(table.cell(0, 1) == "7");
  }

  TEST_CASE("csv: gzip that is cut, damaged, followed by more, or too long") {
    CHECK(refusal_of_file(kPacked.substr(0, kPacked.size() - 9)) == "the gzip data ends early");
    std::string damaged = kPacked;
    damaged[kPacked.size() - 6] = '\x55';  // of the checksum
    CHECK(refusal_of_file(damaged) == "the gzip data is damaged");
    CHECK(refusal_of_file(kPacked + kPacked) == "bytes follow the end of the gzip data");
    CHECK(refusal_of_file(kPacked, {.text_bytes = 4}) ==
          "more than 0 MiB when decompressed, the limit");
    CHECK(refusal_of_file("\x1f\x8b") == "the gzip data ends early");
  }

  TEST_CASE("csv: a file that is not there") {
    CHECK_THROWS_AS(CsvTable::read("no/such.csv"), InputError);
  }
}
