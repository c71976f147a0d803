// SPDX-License-Identifier: Apache-2.0
#include "validation/hypothesis/draft.hpp"

#include <doctest/doctest.h>

#include "model/input/diagnostic.hpp"
#include "validation/hypothesis/hypothesis_file.hpp"

using namespace floorline;

namespace {

Hypothesis drafted(HypothesisDraft draft) {
  draft.device = "h100_sxm";
  return draft_hypothesis(draft);
}

std::string refusal(const HypothesisDraft& draft) {
  try {
    drafted(draft);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_SUITE("validation") {
  TEST_CASE("a word of the operator is changed in its text, and defaults are written out") {
    HypothesisDraft draft;
    draft.op = "layernorm rows=8192 cols=4096 in=fp32 out=fp32";
    draft.changes = {"in=fp16", "out=fp16"};
    draft.variable = "activation storage";
    Hypothesis h = drafted(draft);
    CHECK(h.change.keys == std::vector<std::string>{"in", "out"});
    // The weight's default follows `in`: written out it stays.
    CHECK(h.baseline.op.find("weight=fp32") != std::string::npos);
    CHECK(h.variant.op.find("weight=fp32") != std::string::npos);
    CHECK(h.variant.op.find("in=fp16 out=fp16") != std::string::npos);
    for (const Difference& d : differences(h.baseline, h.variant)) {
      CHECK(is_declared(d, h.change.keys));
    }
    predict_from_floors(h, {2.0, "hbm"});
    CHECK(h.claimed_limit == "hbm");
    CHECK(*h.prediction.low == doctest::Approx(1.7));   // 2.0 x 0.85
    CHECK(*h.prediction.high == doctest::Approx(2.3));  // 2.0 x 1.15
    const Hypothesis again = parse_hypothesis(write_hypothesis(h), "h.toml");
    CHECK(again.name == "layernorm_in_out");
    CHECK(again.change.variable == "activation storage");
    CHECK_FALSE(again.baseline.experiment.empty());  // there is one of these words
  }

  TEST_CASE("a device key, a factor and a model's symbol become settings") {
    HypothesisDraft draft;
    draft.op = "copy bytes=1MB path=d2d";
    draft.changes = {"memory.hbm.bandwidth*=2"};
    Hypothesis h = drafted(draft);
    CHECK(h.change.keys == std::vector<std::string>{"set.memory.hbm.bandwidth"});
    CHECK(h.variant.set == draft.changes);
    CHECK(h.baseline.set.empty());
    HypothesisDraft model;
    model.workload = "llama-3.1-8b";
    model.set = {"batch=8", "context=1024"};
    model.changes = {"batch=16"};
    h = drafted(model);
    CHECK(h.variant.set == std::vector<std::string>{"context=1024", "batch=16"});
    CHECK(differences(h.baseline, h.variant).size() == 1);
  }

  TEST_CASE("a default that is another key is written out as that key's value") {
    HypothesisDraft draft;
    draft.op = "attention batch=1 q_len=64 kv_len=128 q_heads=8 kv_heads=8 head_dim=64";
    draft.changes = {"head_dim=128"};
    const Hypothesis h = drafted(draft);
    CHECK(h.baseline.op.find(" v_dim=64") != std::string::npos);
    CHECK(h.variant.op.find(" v_dim=64") != std::string::npos);
    CHECK(h.variant.op.find("head_dim=128") != std::string::npos);
  }

  TEST_CASE("names of the graph as a whole are settings; words that --set names stay settings") {
    HypothesisDraft draft;
    draft.op = "gemm m=16 n=4096 k=4096";
    draft.changes = {"weight_dtype=fp8", "op.gemm.bytes*=0.5", "sm_clock=1200MHz", "m=32"};
    draft.variable = "all";
    Hypothesis h = drafted(draft);
    CHECK(h.variant.op.find("m=32") != std::string::npos);
    CHECK(h.variant.set ==
          std::vector<std::string>{"weight_dtype=fp8", "op.gemm.bytes*=0.5", "sm_clock=1200MHz"});
    draft.set = {"m=8"};  // it would override the word
    draft.changes = {"m=32"};
    h = drafted(draft);
    CHECK(h.variant.op == h.baseline.op);
    CHECK(h.variant.set == draft.changes);
  }

  TEST_CASE("a factor scales what is set; an operator is taken out last") {
    HypothesisDraft draft;
    draft.workload = "some";
    draft.set = {"batch=8"};
    draft.changes = {"op.mean=remove", "batch*=2"};
    draft.variable = "both";
    Hypothesis h = drafted(draft);
    CHECK(h.variant.set == std::vector<std::string>{"batch=8", "batch*=2", "op.mean=remove"});
    const std::vector<Difference> all = differences(h.baseline, h.variant);
    REQUIRE(all.size() == 2);
    CHECK(all[0].key == "set.batch");
    CHECK(all[0].baseline == "8");
    CHECK(all[0].variant == "8 *2");
    predict_from_floors(h, {2.0, "hbm"});
    CHECK(parse_hypothesis(write_hypothesis(h), "h.toml").change.variable == "both");
  }

  TEST_CASE("another device and a measured time are refused by name") {
    HypothesisDraft draft;
    draft.workload = "llama-3.1-8b";
    draft.changes = {"device=h200_sxm"};
    CHECK(refusal(draft).find("--device h200_sxm") != std::string::npos);
    draft.changes = {"op.attention.time=3ms"};
    CHECK(refusal(draft).find("op.attention.time: is a measured time") != std::string::npos);
  }

  TEST_CASE("names hold the whole stem, and questions promise nothing") {
    HypothesisDraft draft;
    draft.workload = "llama-3.1-8b";
    draft.changes = {"weight_dtype=fp8"};
    Hypothesis h = drafted(draft);
    CHECK(h.name == "llama_3_1_8b_weight_dtype");
    CHECK(h.question == "How does weight_dtype=fp8 change llama-3.1-8b's time?");
    draft.workload = "data/llama-3.1-70b.json";
    CHECK(drafted(draft).name == "llama_3_1_70b_weight_dtype");
    draft.workload.clear();
    draft.op = "gemm m=16 n=4096 k=4096";
    draft.changes = {"m=512", "n=8"};
    draft.variable = "size";
    CHECK(drafted(draft).question == "How do m=512, n=8 change gemm's time?");
  }

  TEST_CASE("no change, or several without the name of one variable") {
    HypothesisDraft draft;
    draft.op = "copy bytes=1MB path=d2d";
    CHECK(refusal(draft).find("--change: missing") != std::string::npos);
    draft.changes = {"bytes=2MB", "path=h2d"};
    CHECK(refusal(draft).find("--variable: missing") != std::string::npos);
  }

  TEST_CASE("a floor without a term claims latency, and says that no rate holds it") {
    HypothesisDraft draft;
    draft.op = "copy bytes=1MB path=d2d";
    draft.changes = {"bytes=2MB"};
    Hypothesis h = drafted(draft);
    predict_from_floors(h, {1.0, ""});
    CHECK(h.claimed_limit == "latency");
    CHECK(parse_hypothesis(write_hypothesis(h), "h.toml").claimed_limit == "latency");
  }
}
