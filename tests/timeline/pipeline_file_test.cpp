// SPDX-License-Identifier: Apache-2.0
// What each key of a pipeline file turns into.
#include "model/timeline/pipeline_file.hpp"

#include <doctest/doctest.h>

#include <string>

#include "model/input/diagnostic.hpp"
#include "model/input/document_node.hpp"

namespace floorline {

namespace {

PipelineFile read(const std::string& body) {
  return read_pipeline(parse_toml("schema = 1\nkind = \"pipeline\"\n" + body, "test.toml"));
}

std::string stage(const std::string& keys) {
  return "[[stage]]\nname = \"a\"\nresource = \"gpu\"\n" + keys + "\n";
}

/// The first complaint, without its position.
std::string complaint(const std::string& body) {
  try {
    read(body);
  } catch (const InputError& e) {
    return e.diagnostics().front().key_path + ": " + e.diagnostics().front().message;
  }
  return "";
}

}  // namespace

TEST_SUITE_BEGIN("timeline");

TEST_CASE("resources: kinds from names, a host in order, what is not declared") {
  const PipelineFile f = read(
      "[[resource]]\nname = \"pool\"\nkind = \"cpu\"\nservers = 8\nscaling_efficiency = 0.9\n"
      "[[resource]]\nname = \"h2d\"\nbandwidth = \"25 GB/s\"\nlatency = \"5 us\"\n"
      "[[resource]]\nname = \"net\"\nkind = \"network\"\nsharing = \"fair\"\n"
      "[[resource]]\nname = \"main\"\nkind = \"host\"\n" +
      stage("time = \"1 ms\""));
  REQUIRE(f.resources.size() == 5);
  CHECK(f.resources[0].kind == PoolKind::cpu);
  CHECK(f.resources[0].servers == 8);
  CHECK(f.resources[0].scaling_efficiency == 0.9);
  CHECK(f.resources[1].kind == PoolKind::h2d);
  CHECK(f.links[1].bandwidth == BytesPerSecond(25e9));
  CHECK(f.resources[2].sharing == Sharing::fair);
  CHECK(f.resources[3].queue == Queue::in_order);
  CHECK(f.resources[4].name == "gpu");  // used, not declared
  CHECK(f.resources[4].kind == PoolKind::gpu);
}

TEST_CASE("times: each way of saying how long a stage takes") {
  CHECK(std::get<Seconds>(read(stage("time = \"80 ms\"")).stages[0].time) == Seconds(0.08));
  const auto list =
      std::get<std::vector<Seconds>>(read(stage("times = [\"1 s\", \"2 s\"]")).stages[0].time);
  CHECK(list == std::vector<Seconds>{seconds(1), seconds(2)});
  const auto bytes = std::get<Transfer>(
      read(stage("bytes = \"4 KiB\"\nlink = \"h2d\"\nrate = \"observed\"")).stages[0].time);
  CHECK(bytes.bytes == Bytes(4096));
  CHECK(bytes.link == "h2d");
  CHECK(bytes.observed);
  const auto floor = std::get<FloorOf>(
      read(stage("op = \"copy bytes=1GB\"\nfloor = \"any_residency\"\nefficiency = 0.5"))
          .stages[0]
          .time);
  CHECK(floor.op == "copy bytes=1GB");
  CHECK(floor.any_residency);
  CHECK(floor.efficiency == 0.5);
  const auto csv = std::get<CsvColumn>(
      read(stage("csv = \"t.csv\"\ncolumn = \"x\"\nunit = \"ms\"")).stages[0].time);
  CHECK(csv.unit_s == doctest::Approx(1e-3));
  const auto drawn = std::get<Distribution>(
      read(stage("distribution = { kind = \"uniform\", low = \"1 s\", high = \"2 s\", seed = 3 }"))
          .stages[0]
          .time);
  CHECK(drawn.kind == DistributionKind::uniform);
  CHECK(drawn.high == seconds(2));
  CHECK(drawn.seed == 3);
}

TEST_CASE("after: names, and tables with distance, event and kind") {
  const PipelineFile f = read(
      stage("time = \"1 ms\"\nafter = [{ stage = \"a\", distance = 2, event = \"start\", kind = "
            "\"credit\" }]"));
  REQUIRE(f.stages[0].after.size() == 1);
  CHECK(f.stages[0].after[0].distance == 2);
  CHECK(f.stages[0].after[0].event == Event::start);
  CHECK(f.stages[0].after[0].kind == DependencyKind::credit);
}

TEST_CASE("complaints name the key and what was expected") {
  CHECK(complaint("") == "stage: missing; expected at least one [[stage]]");
  CHECK(complaint(stage("")).find("stage[0].time: missing") == 0);
  CHECK(
      complaint(stage("distribution = { kind = \"normal\", mean = \"1 s\", deviation = \"1 s\" }"))
          .find("stage[0].distribution.seed: missing") == 0);
  CHECK(complaint(stage("time = \"1 s\"\nafter = \"b\"")) ==
        "stage[0].after: is text, expected a list of stages: [\"load\"]");
  CHECK(complaint("stage = 3\n") == "stage: is an integer, expected tables: [[stage]]");
  CHECK(complaint("[[resource]]\nname = \"host\"\nservers = 2\n" + stage("time = \"1 s\""))
            .find("resource[0].servers: a host thread runs one program") == 0);
  CHECK(complaint(stage("op = \"x\"\nefficiency = 1.5"))
            .find("stage[0].efficiency: expected a share") == 0);
  CHECK(complaint("[[resource]]\nname = \"gpu\"\nsharing = \"fair\"\n" + stage("time = \"1 s\"") +
                  "[[stage]]\nname = \"b\"\nresource = \"cpu\"\ntime = \"1 s\"\nafter = [\"a\"]\n"
                  "[[buffer]]\nbetween = [\"a\", \"b\"]\ncapacity = 1\n")
            .find("buffer[0].between: the producer's resource is shared fairly") == 0);
}

TEST_SUITE_END();

}  // namespace floorline
