// SPDX-License-Identifier: Apache-2.0
// The shipped hypotheses: each loads (the single-variable check included), says what it rests on,
// and names experiments that the suite has on each backend it is meant for.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "validation/hypothesis/experiment_name.hpp"
#include "validation/hypothesis/hypothesis_file.hpp"

using namespace floorline;

namespace {

std::vector<Hypothesis> shipped() {
  std::vector<Hypothesis> all;
  for (const auto& entry : std::filesystem::directory_iterator("validation/hypotheses")) {
    all.push_back(read_hypothesis_file(entry.path().string()));
  }
  return all;
}

bool is_meant_for(const Hypothesis& h, const std::string& backend) {
  return h.backends.empty() ||
         std::find(h.backends.begin(), h.backends.end(), backend) != h.backends.end();
}

}  // namespace

TEST_SUITE("validation") {
  TEST_CASE("a dozen hypotheses and more, each with its reasons") {
    const std::vector<Hypothesis> all = shipped();
    CHECK(all.size() >= 12);
    std::set<std::string> names;
    for (const Hypothesis& h : all) {
      CAPTURE(h.name);
      CHECK(names.insert(h.name).second);
      CHECK_FALSE(h.limit_evidence.empty());
      CHECK_FALSE(h.prediction.source.empty());
      CHECK(h.evidence == EvidenceClass::mechanism);  // nothing was measured when they were written
      CHECK(parse_hypothesis(write_hypothesis(h), h.name + ".toml").question == h.question);
    }
  }

  TEST_CASE("their experiments are in the suite of every backend they are meant for") {
    int on_cpu = 0;
    for (const Hypothesis& h : shipped()) {
      CAPTURE(h.name);
      for (const HypothesisCase* c : {&h.baseline, &h.variant}) {
        if (c->experiment.empty()) continue;
        if (is_meant_for(h, "cpu")) CHECK(resolve_experiment(c->experiment, Scale::host));
        if (is_meant_for(h, "cuda")) CHECK(resolve_experiment(c->experiment, Scale::device));
      }
      if (!h.baseline.experiment.empty() && is_meant_for(h, "cpu")) ++on_cpu;
    }
    CHECK(on_cpu >= 10);
  }

  TEST_CASE("the stories that are told with them are all there") {
    std::set<std::string> names;
    for (const Hypothesis& h : shipped()) names.insert(h.name);
    for (const char* name :
         {"layernorm_compute_precision", "layernorm_storage_precision", "residual_norm_fusion",
          "reduction_two_stage", "pinned_copy", "vector_loads", "strided_access", "attention_tiled",
          "launch_graph", "peak_does_not_help", "overlap_hides_copy", "matmul_alignment"}) {
      CHECK_MESSAGE(names.count(name) == 1, name);
    }
  }
}
