// SPDX-License-Identifier: Apache-2.0
#include "validation/record/record_file.hpp"

#include "model/input/diagnostic.hpp"
#include "model/quantity/unit_names.hpp"
#include "validation/record/record_text.hpp"
#include "validation/record/sha256.hpp"
#include "validation/report/node_access.hpp"

namespace floorline {

namespace {

const std::vector<std::string>& observation_keys() {
  static const std::vector<std::string> keys{"time", "second_run", "hbm_bytes"};
  return keys;
}

/// Present observations of both cases.
std::vector<const Node*> observations(const Node& run) {
  std::vector<const Node*> all;
  for (const char* c : {"baseline", "variant"}) {
    for (const std::string& key : observation_keys()) {
      const Node* o = node_at(run, std::string(c) + ".observed." + key);
      if (o != nullptr && o->kind == Node::Kind::table) all.push_back(o);
    }
  }
  return all;
}

bool has_samples_of_a_device(const Node& o) {
  return text_at(o, "evidence") == "measured" && number_at(o, "summary.samples").value_or(0) > 0 &&
         !text_at(o, "machine.device").empty();
}

/// "" when the evidence is no stronger than what the record itself shows.
std::string evidence_problem(const Node& run) {
  const std::string evidence = text_at(run, "evidence");
  const std::vector<const Node*> all = observations(run);
  bool backed = !all.empty();
  bool on_gpu = !all.empty();
  for (const Node* o : all) {
    backed = backed && has_samples_of_a_device(*o);
    on_gpu = on_gpu && text_at(*o, "machine.backend") == "cuda";
  }
  if (evidence == "measured" && !backed) {
    return "says measured, but not every observation has samples of a named device";
  }
  if (evidence == "typed" && all.empty()) return "says typed, but holds no observation";
  const bool claims_gpu = !text_at(run, "standing").starts_with("This proves nothing about a GPU");
  if (claims_gpu && !(on_gpu && evidence == "measured")) {
    return "its first line claims a GPU that was not measured";
  }
  return "";
}

class Checker {
 public:
  explicit Checker(std::string folder) : folder_(std::move(folder)) {}

  RecordCheck check() {
    const RecordFolder list = list_records(folder_);
    result_.records = list.records.size();
    result_.leftovers = list.leftovers;
    result_.strangers = list.strangers;
    const RecordFile* before = nullptr;
    for (const RecordFile& file : list.records) {
      if (before != nullptr && before->name != file.name) before = nullptr;
      check_number(before, file);
      check_file(before, file);
      before = &file;
    }
    return std::move(result_);
  }

 private:
  void add(const RecordFile& file, std::string problem) {
    result_.problems.push_back({file.id + ".json", std::move(problem)});
  }

  void check_number(const RecordFile* before, const RecordFile& file) {
    const std::int64_t expected = before == nullptr ? 1 : before->number + 1;
    if (file.number != expected) {
      add(file, "number " + std::to_string(expected) + " is not there: a record was removed");
    }
  }

  void check_previous(const RecordFile* before, const RecordFile& file, const Node& record) {
    const std::string id = text_at(record, "previous.id");
    if (before == nullptr) {
      if (!id.empty() && file.number == 1) add(file, "the first record names one before it");
      return;
    }
    if (id != before->id) {
      add(file, "names " + (id.empty() ? "no record" : quoted(id)) + " as the one before it, not " +
                    quoted(before->id));
      return;
    }
    try {
      if (text_at(record, "previous.sha256") != sha256(read_text_file(before->path)))
        add(file, before->id + ".json was changed after this record was written");
    } catch (const InputError& error) {  // told of itself too, and the others are still checked
      add(file, before->id + ".json cannot be read");
    }
  }

  void check_content(const RecordFile& file, const Node& record) {
    const std::string stated = text_at(record, "record_sha256");
    if (stated.empty()) {
      add(file, file.id + ".json holds no record_sha256: whether it was edited cannot be seen");
    } else if (stated != content_sha256(record)) {
      add(file, file.id +
                    ".json was edited: its content is not the one whose hash is its "
                    "record_sha256");
    }
  }

  void check_file(const RecordFile* before, const RecordFile& file) {
    Node record;
    try {
      record = read_record(file.path);
    } catch (const InputError& error) {  // a finding, and the other records are still checked
      add(file, error.what());
      return;
    }
    check_content(file, record);
    if (text_at(record, "id") != file.id) add(file, "its id is not its file's name");
    if (text_at(record, "hashes.hypothesis_sha256") != sha256(text_at(record, "hypothesis_file"))) {
      add(file, "the hypothesis it keeps is not the one whose hash it states");
    }
    check_previous(before, file, record);
    const Node* run = record.find("run");
    const std::string problem = run != nullptr ? evidence_problem(*run) : "holds no run";
    if (!problem.empty()) add(file, problem);
  }

  std::string folder_;
  RecordCheck result_;
};

}  // namespace

Node read_record(const std::string& path) {
  Node record = read_document(path);
  if (text_at(record, "kind") != "record") {
    throw InputError(Diagnostic{record.at, "kind", "is no record; expected kind = \"record\""});
  }
  if (number_at(record, "schema").value_or(0) != 1) {
    throw InputError(Diagnostic{record.at, "schema", "this program reads records of schema 1"});
  }
  return record;
}

RecordSummary summary_of(const RecordFile& file) {
  RecordSummary s;
  s.file = file;
  try {
    const Node record = read_record(file.path);
    s.created_utc = text_at(record, "created_utc");
    s.verdict = text_at(record, "run.result.verdict");
    s.evidence = text_at(record, "run.evidence");
    s.question = text_at(record, "run.hypothesis.question");
    s.device = text_at(record, "run.variant.observed.time.machine.device");
    if (s.device.empty()) s.device = text_at(record, "run.variant.device");
  } catch (const InputError& error) {  // listed as what it is
    s.unreadable = error.what();
  }
  return s;
}

RecordCheck check_records(const std::string& folder) { return Checker(folder).check(); }

}  // namespace floorline
