// SPDX-License-Identifier: Apache-2.0
#include "validation/record/record_text.hpp"

#include <sys/utsname.h>

#include <array>
#include <ctime>

#include "validation/record/sha256.hpp"
#include "validation/report/run_document.hpp"
#include "validation/report/run_json.hpp"

namespace floorline {

namespace {

Json case_hashes(const CaseRun& c) {
  return Json::object()
      .set("device_sha256", sha256(c.device_text))
      .set("workload_sha256", sha256(c.workload_text));
}

Json previous_json(const RecordPlace& place) {
  if (!place.previous) return {};
  return Json::object().set("id", place.previous->id).set("sha256", place.previous_sha256);
}

constexpr const char* kContentHash = "record_sha256";

}  // namespace

RecordMoment record_moment() {
  RecordMoment moment;
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::array<char, 32> text{};
  const std::size_t n = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  moment.created_utc.assign(text.data(), n);
  utsname system{};
  if (uname(&system) == 0) {
    moment.host = std::string(system.sysname) + ' ' + system.release + ' ' + system.machine;
  }
  return moment;
}

std::string record_text(const HypothesisRun& run, const RecordPlace& place,
                        const RecordMoment& moment) {
  Document doc;
  doc.json = Json::object();
  doc.json.set("schema", 1)
      .set("kind", "record")
      .set("id", place.id)
      .set("created_utc", moment.created_utc)
      .set("host", moment.host)
      .set("hashes", Json::object()
                         .set("hypothesis_sha256", sha256(run.hypothesis.text))
                         .set("baseline", case_hashes(run.baseline))
                         .set("variant", case_hashes(run.variant)))
      .set("previous", previous_json(place))
      .set("hypothesis_file", run.hypothesis.text)
      .set("run", run_json(run));
  doc.json.set(kContentHash, content_sha256(node_of(doc.json)));
  return write_json(doc);
}

std::string content_sha256(const Node& record) {
  Document doc;
  doc.json = Json::object();
  for (const NodeMember& m : record.members) {
    if (m.key != kContentHash) doc.json.set(m.key, json_of(m.value));
  }
  return sha256(write_json(doc));
}

RecordFile keep_record(const std::string& folder, const HypothesisRun& run) {
  const RecordMoment moment = record_moment();
  return append_record(folder, run.hypothesis.name,
                       [&](const RecordPlace& place) { return record_text(run, place, moment); });
}

}  // namespace floorline
