// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "model/input/diagnostic.hpp"
#include "model/workload/op_text.hpp"
#include "tests/floor/test_machine.hpp"
#include "tests/validation/hypothesis_text.hpp"
#include "validation/hypothesis/hypothesis_file.hpp"
#include "validation/record/record_file.hpp"
#include "validation/record/record_folder.hpp"
#include "validation/record/record_text.hpp"
#include "validation/record/sha256.hpp"
#include "validation/report/node_access.hpp"
#include "validation/report/run_document.hpp"

using namespace floorline;
using namespace floorline::testing;

namespace {

namespace fs = std::filesystem;

class TemporaryFolder {
 public:
  TemporaryFolder()
      : path_(fs::temp_directory_path() /
              ("floorline_records_" + std::to_string(getpid()) + "_" + std::to_string(++made_))) {
    fs::remove_all(path_);
  }
  ~TemporaryFolder() { fs::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  TemporaryFolder(TemporaryFolder&&) = delete;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  [[nodiscard]] std::string path() const { return path_.string(); }
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  static int made_;
  fs::path path_;
};
int TemporaryFolder::made_ = 0;

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream all;
  all << in.rdbuf();
  return all.str();
}
void write(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

Observation measured(double value, const std::string& backend) {
  Observation o;
  o.what = {"time", MeasurandKind::time};
  o.summary = summarize(std::vector<double>(9, value));
  o.machine = {backend, "a device", "1.2", "Linux", {{"compiler", "g++ 12"}}};
  return o;
}
Observation typed(double value) {
  Observation o;
  o.what = {"time", MeasurandKind::time};
  o.summary = typed_value(value);
  o.evidence = EvidenceClass::typed;
  return o;
}

HypothesisRun run_with(std::optional<Observation> baseline, std::optional<Observation> variant) {
  const Machine machine = round_machine();
  HypothesisRun run;
  run.hypothesis = parse_hypothesis(kStorageHypothesis, "storage.toml");
  for (auto [c, which] : {std::pair{&run.baseline, &run.hypothesis.baseline},
                          std::pair{&run.variant, &run.hypothesis.variant}}) {
    c->floors =
        case_floors(evaluate(parse_op_text(which->op), machine), machine, KernelSchedule::serial);
    c->device = "round";
    c->device_text = "device";
    c->workload_text = which->op;
  }
  run.baseline.observed.time = std::move(baseline);
  run.variant.observed.time = std::move(variant);
  if (run.baseline.observed.time || run.variant.observed.time) {
    run.verdict = judge(run.hypothesis, {&run.baseline.floors, &run.baseline.observed},
                        {&run.variant.floors, &run.variant.observed});
  }
  return run;
}

std::string problems(const std::string& folder) {
  std::string all;
  for (const RecordProblem& p : check_records(folder).problems) {
    all += p.file + ": " + p.problem + "\n";
  }
  return all;
}

}  // namespace

TEST_SUITE("validation") {
  TEST_CASE("SHA-256 of the examples of FIPS 180") {
    CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  }

  TEST_CASE("records are appended, and a later one names the earlier one by its hash") {
    const TemporaryFolder folder;
    CHECK_THROWS_AS(list_records(folder.path()), InputError);  // not there
    const HypothesisRun run = run_with(typed(330e-6), typed(180e-6));
    const RecordFile first = keep_record(folder.path(), run);
    const std::string before = text_of(first.path);
    const RecordFile second = keep_record(folder.path(), run);
    CHECK(first.id == "storage-0001");
    CHECK(second.id == "storage-0002");
    CHECK(text_of(first.path) == before);
    const Node record = read_record(second.path);
    CHECK(text_at(record, "previous.id") == "storage-0001");
    CHECK(text_at(record, "previous.sha256") == sha256(before));
    // The hash is of the file's own text without its last member.
    const std::string line = ",\n  \"record_sha256\": \"" + text_at(record, "record_sha256") + "\"";
    CHECK(text_at(record, "record_sha256") == sha256(replaced(text_of(second.path), line, "")));
    CHECK(text_at(record, "hypothesis_file") == kStorageHypothesis);
    CHECK(text_at(record, "hashes.hypothesis_sha256") == sha256(kStorageHypothesis));
    CHECK(node_at(read_record(first.path), "previous")->kind == Node::Kind::null);
    CHECK(problems(folder.path()).empty());
    CHECK(find_record(folder.path(), "storage").id == "storage-0002");
    CHECK(find_record(folder.path(), "storage-0001").number == 1);
    CHECK_THROWS_AS(find_record(folder.path(), "storage-0003"), InputError);
    CHECK(list_records(folder.path()).leftovers.empty());
  }

  TEST_CASE("a record that cannot be read is passed over by name, and no new one is blocked") {
    const TemporaryFolder folder;
    const HypothesisRun run = run_with(typed(330e-6), typed(180e-6));
    keep_record(folder.path(), run);
    fs::create_symlink("/nowhere/at/all", folder.file("storage-0002.json"));
    const RecordFile third = keep_record(folder.path(), run);
    CHECK(third.id == "storage-0003");
    REQUIRE(third.passed_over.size() == 1);
    CHECK(third.passed_over.front() == folder.file("storage-0002.json"));
    CHECK(text_at(read_record(third.path), "previous.id") == "storage-0001");
    CHECK(problems(folder.path()).find("storage-0002") != std::string::npos);
  }

  TEST_CASE("whether a record can be kept is found without making anything") {
    const TemporaryFolder folder;
    check_can_keep(folder.file("a/b"));
    CHECK(!fs::exists(folder.path()));
    fs::create_directories(folder.path());
    write(folder.file("file"), "x");
    CHECK_THROWS_AS(check_can_keep(folder.file("file")), InputError);
    CHECK_THROWS_AS(check_can_keep(folder.file("file/below")), InputError);
  }

  TEST_CASE("a record that was changed, removed or renamed is seen") {
    const TemporaryFolder folder;
    const HypothesisRun run = run_with(typed(330e-6), typed(180e-6));
    for (int i = 0; i < 3; ++i) keep_record(folder.path(), run);
    const std::string second = folder.file("storage-0002.json");
    const std::string text = text_of(second);
    write(second, replaced(text, "halve", "third"));
    CHECK(problems(folder.path()).find("storage-0002.json was changed after") != std::string::npos);
    write(second, replaced(text, "\\nquestion", "\\n question"));
    CHECK(problems(folder.path()).find("not the one whose hash") != std::string::npos);
    write(second, text);
    CHECK(problems(folder.path()).empty());
    fs::remove(second);
    CHECK(problems(folder.path()).find("number 2 is not there") != std::string::npos);
    fs::rename(folder.file("storage-0003.json"), second);
    CHECK(problems(folder.path()).find("its id is not its file's name") != std::string::npos);
    write(folder.file("storage-0003.json"), "{ \"schema\": 1, ");
    CHECK(problems(folder.path()).find("storage-0003.json") != std::string::npos);
  }

  TEST_CASE("a verdict or a number edited by hand is seen, in the last record too") {
    const TemporaryFolder folder;
    const HypothesisRun run = run_with(typed(330e-6), typed(180e-6));
    const RecordFile file = keep_record(folder.path(), run);
    CHECK(problems(folder.path()).empty());
    const std::string text = text_of(file.path);
    const std::string edited = "storage-0001.json was edited";
    const std::string verdict(name_of(run.verdict->verdict));
    REQUIRE(verdict != "floor_violated");
    write(file.path,
          replaced(text, "\"verdict\": \"" + verdict + '"', "\"verdict\": \"floor_violated\""));
    CHECK(problems(folder.path()).find(edited) != std::string::npos);
    write(file.path, replaced(text, "\"median_s\": 0.00033", "\"median_s\": 0.00034"));
    CHECK(problems(folder.path()).find(edited) != std::string::npos);
    const std::string hash = text_at(read_record(file.path), "record_sha256");
    write(file.path, replaced(text, hash, std::string(64, '0')));
    CHECK(problems(folder.path()).find(edited) != std::string::npos);
    write(file.path, replaced(text, ",\n  \"record_sha256\": \"" + hash + '"', ""));
    CHECK(problems(folder.path()).find("storage-0001.json holds no record_sha256") !=
          std::string::npos);
    write(file.path, text);
    CHECK(problems(folder.path()).empty());
  }

  TEST_CASE(
      "an empty folder has no records; one that is not there is told, unless a file is meant") {
    const TemporaryFolder folder;
    const TemporaryFolder other;
    CHECK_THROWS_AS(check_records(folder.path()), InputError);
    CHECK_THROWS_AS(find_record(folder.path(), "storage"), InputError);
    const RecordFile file = keep_record(other.path(), run_with({}, {}));
    CHECK(find_record(folder.path(), file.path).id == "storage-0001");
    fs::create_directories(folder.path());
    CHECK(check_records(folder.path()).records == 0);
    CHECK(problems(folder.path()).empty());
  }

  TEST_CASE("evidence is the weakest of what was observed, and never upgraded") {
    CHECK(evidence_of(run_with({}, {})) == EvidenceClass::mechanism);
    CHECK(evidence_of(run_with(typed(1e-3), measured(1e-3, "cuda"))) == EvidenceClass::typed);
    CHECK(evidence_of(run_with(measured(1e-3, "cpu"), measured(1e-3, "cpu"))) ==
          EvidenceClass::measured);
    Observation nameless = measured(1e-3, "cuda");
    nameless.machine.device.clear();
    CHECK(evidence_of(run_with(nameless, measured(1e-3, "cuda"))) == EvidenceClass::typed);
    const std::string nothing = "This proves nothing about a GPU";
    CHECK(standing_of(run_with({}, {})).starts_with(nothing));
    CHECK(standing_of(run_with(typed(1e-3), typed(1e-3))).starts_with(nothing));
    CHECK(standing_of(run_with(measured(1e-3, "cpu"), measured(1e-3, "cpu"))).starts_with(nothing));
    CHECK(standing_of(run_with(measured(1e-3, "cuda"), measured(1e-3, "cuda"))) ==
          "Measured on a device, driver 1.2.");
  }

  TEST_CASE("a record edited to claim more than it holds is seen") {
    const TemporaryFolder folder;
    const RecordFile file = keep_record(folder.path(), run_with(typed(330e-6), typed(180e-6)));
    const std::string text = text_of(file.path);
    write(file.path, replaced(text,
                              "\"standing\": \"This proves nothing about a GPU: the times were "
                              "typed in, and no device was measured here.\"",
                              "\"standing\": \"Measured on an H100.\""));
    CHECK(problems(folder.path()).find("claims a GPU that was not measured") != std::string::npos);
    // The run's own line of evidence is the first after `standing`.
    const std::string line = "here.\",\n    \"evidence\": \"typed\"";
    write(file.path, replaced(text, line, "here.\",\n    \"evidence\": \"measured\""));
    CHECK(problems(folder.path()).find("says measured") != std::string::npos);
  }

  TEST_CASE("killed at any step, the writer leaves every earlier record as it was") {
    const HypothesisRun run = run_with(typed(330e-6), typed(180e-6));
    for (const RecordStep step :
         {RecordStep::half_written, RecordStep::written, RecordStep::synced, RecordStep::linked}) {
      const TemporaryFolder folder;
      const std::string before = text_of(keep_record(folder.path(), run).path);
      const pid_t child = fork();
      REQUIRE(child >= 0);
      if (child == 0) {  // dies without running any destructor
        append_record(
            folder.path(), "storage",
            [&](const RecordPlace& place) { return record_text(run, place, record_moment()); },
            [step](RecordStep at) {
              if (at == step) kill(getpid(), SIGKILL);
            });
        _exit(0);
      }
      int status = 0;
      REQUIRE(waitpid(child, &status, 0) == child);
      REQUIRE(WIFSIGNALED(status));
      const bool linked = step == RecordStep::linked;
      CHECK(text_of(folder.file("storage-0001.json")) == before);
      CHECK(fs::exists(folder.file("storage-0002.json")) == linked);
      CHECK(problems(folder.path()).empty());
      CHECK(check_records(folder.path()).leftovers.size() == 1);
      // The next run goes on where the last whole record is.
      CHECK(keep_record(folder.path(), run).id == (linked ? "storage-0003" : "storage-0002"));
      CHECK(problems(folder.path()).empty());
    }
  }

  TEST_CASE("two writers never overwrite each other") {
    const TemporaryFolder folder;
    const HypothesisRun run = run_with(typed(330e-6), typed(180e-6));
    const pid_t child = fork();
    REQUIRE(child >= 0);
    for (int i = 0; i < 10; ++i) keep_record(folder.path(), run);
    if (child == 0) _exit(0);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(list_records(folder.path()).records.size() == 20);
    CHECK(problems(folder.path()).empty());
  }

  TEST_CASE("a folder that cannot be one") {
    const TemporaryFolder folder;
    fs::create_directories(folder.path());
    write(folder.file("file"), "x");
    CHECK_THROWS_AS(list_records(folder.file("file")), InputError);
    CHECK_THROWS_AS(keep_record(folder.file("file"), run_with({}, {})), InputError);
    CHECK(list_records(folder.path()).strangers == std::vector<std::string>{"file"});
  }

  TEST_CASE("the report of a record has three parts and says first what it proves") {
    const TemporaryFolder folder;
    const RecordFile file = keep_record(folder.path(), run_with(typed(330e-6), typed(180e-6)));
    const Document doc = record_document(read_record(file.path), "record");
    const std::string text = write_markdown(doc);
    CHECK(text.starts_with("This proves nothing about a GPU: the times were typed in"));
    for (const char* part : {"## 1. Boundary and baseline", "## 2. Limit and evidence",
                             "## 3. One change: prediction, observation, refutation",
                             "| in | fp32 | fp16 |", "refuted if", "storage-0001"}) {
      CHECK_MESSAGE(text.find(part) != std::string::npos, part);
    }
    // 268,468,224 B / 1 TB/s; 330 us / 180 us = 1.833.
    CHECK(text.find("t >= D/B = 268.5 MB / 1.000 TB/s = 268.5 us") != std::string::npos);
    CHECK(text.find("1.833") != std::string::npos);
  }

  TEST_CASE("a record with gaps reads as gaps") {
    const Node record = parse_json(
        R"({"schema": 1, "kind": "record", "run": {"baseline": 3, "hypothesis": {"prediction": []},
            "variant": {"observed": {"time": {"summary": 1}}, "judged": {"doubts": [1, "x"]},
                        "floor": {"terms": [7, {"resource": "warp"}]}}}})",
        "r.json");
    CHECK_FALSE(write_markdown(record_document(record, "record")).empty());
    CHECK_FALSE(write_table(record_document(parse_json("{}", "r.json"), "record"), {}).empty());
  }
}
