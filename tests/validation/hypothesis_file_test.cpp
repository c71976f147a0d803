// SPDX-License-Identifier: Apache-2.0
#include "validation/hypothesis/hypothesis_file.hpp"

#include <doctest/doctest.h>

#include "model/input/diagnostic.hpp"
#include "tests/validation/hypothesis_text.hpp"

using namespace floorline;
using floorline::testing::kStorageHypothesis;
using floorline::testing::replaced;

namespace {

std::string refusal(const std::string& text) {
  try {
    parse_hypothesis(text, "h.toml");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

bool says(const std::string& text, std::string_view part) {
  const std::string message = refusal(text);
  CAPTURE(message);
  return message.find(part) != std::string::npos;
}

}  // namespace

TEST_SUITE("validation") {
  TEST_CASE("a hypothesis as the design writes it") {
    const Hypothesis h = parse_hypothesis(kStorageHypothesis, "folder/layernorm_storage.toml");
    CHECK(h.name == "layernorm_storage");
    CHECK(h.claimed_limit == "hbm");
    CHECK(h.evidence == EvidenceClass::mechanism);
    CHECK(h.device == "h100_sxm");
    CHECK(h.change.keys == std::vector<std::string>{"in", "out"});
    CHECK(h.prediction.amount == PredictedAmount::time_ratio);
    CHECK(h.prediction.low == 1.7);
    CHECK(h.prediction.high == 2.05);
    CHECK(h.text == kStorageHypothesis);
    const auto all = differences(h.baseline, h.variant);
    REQUIRE(all.size() == 2);
    CHECK(all[0].key == "in");
    CHECK(all[0].baseline == "fp32");
    CHECK(all[0].variant == "fp16");
  }

  TEST_CASE("more than one changed variable: all differences are listed") {
    const std::string text =
        replaced(kStorageHypothesis, "in=fp16 out=fp16 weight=fp32 compute=fp32",
                 "in=fp16 out=fp16 weight=fp16 compute=fp16");
    CHECK(says(text, "weight: fp32 -> fp16; compute: fp32 -> fp16"));
    CHECK(says(text, "expected exactly one changed variable"));
    CHECK(says(
        replaced(kStorageHypothesis, "rows=8192 cols=4096 in=fp16", "rows=4096 cols=4096 in=fp16 "),
        "rows: 8192 -> 4096"));
    CHECK(says(replaced(kStorageHypothesis, "op = \"layernorm rows=8192 cols=4096 in=fp16",
                        "op = \"rmsnorm rows=8192 cols=4096 in=fp16"),
               "kind: layernorm -> rmsnorm"));
  }

  TEST_CASE("keys that one side does not give, settings and experiments are compared too") {
    CHECK(says(replaced(kStorageHypothesis, " compute=fp32\"\n[change]", "\"\n[change]"),
               "compute: fp32 -> not given"));
    CHECK(says(
        replaced(kStorageHypothesis, "[change]", "set = [\"memory.hbm.bandwidth*=2\"]\n[change]"),
        "set.memory.hbm.bandwidth: not given -> *2"));
    CHECK(says(replaced(kStorageHypothesis, "[change]", "schedule = \"fused\"\n[change]"),
               "schedule: serial -> fused"));
    CHECK(says(replaced(kStorageHypothesis, "[change]", "device = \"b200\"\n[change]"),
               "device: not given -> b200"));
  }

  TEST_CASE("a declared key stands for the experiment's key of the same name") {
    const std::string text = replaced(
        replaced(kStorageHypothesis, "[variant]",
                 "experiment = \"layernorm rows=8192 cols=4096 in=fp32 out=fp32\"\n[variant]"),
        "[change]", "experiment = \"layernorm rows=8192 cols=4096 in=fp16 out=fp16\"\n[change]");
    CHECK(refusal(text).empty());
    CHECK(says(replaced(text, "experiment = \"layernorm rows=8192 cols=4096 in=fp16",
                        "experiment = \"layernorm rows=8192 cols=1024 in=fp16"),
               "experiment.cols: 4096 -> 1024"));
  }

  TEST_CASE("numbers that are equal are no difference") {
    CHECK(refusal(replaced(kStorageHypothesis, "rows=8192 cols=4096 in=fp16",
                           "rows=8.192e3 cols=4096 in=fp16"))
              .empty());
  }

  TEST_CASE("a declared key that does not change") {
    CHECK(says(replaced(kStorageHypothesis, "[\"in\", \"out\"]", "[\"in\", \"out\", \"weight\"]"),
               "\"weight\" does not differ between baseline and variant"));
    CHECK(says(replaced(kStorageHypothesis, "keys = [\"in\", \"out\"]", "keys = []"),
               "names no key"));
  }

  TEST_CASE("all mistakes of a file at once") {
    const std::string text = R"(
schema = 2
kind = "hypothesis"
boundary = "one kernel"
claimed_limit = "hmb"
evidence = "typed"
[baseline]
[variant]
op = "copy bytes=1MB"
workload = "x"
[change]
variable = "x"
keys = ["path"]
[prediction]
amount = "time_ration"
refuted_if = " "
)";
    const std::string message = refusal(text);
    CAPTURE(message);
    for (const char* part :
         {"version 2 is not known", "question: missing", "did you mean \"hbm\"",
          "expected mechanism or measured", "baseline: has neither op, workload nor experiment",
          "variant: has both op and workload", "did you mean \"time_ratio\"",
          "expected one of interval, at_least and at_most", "refuted_if: is empty"}) {
      CHECK_MESSAGE(message.find(part) != std::string::npos, part);
    }
  }

  TEST_CASE("intervals carry the unit of their amount") {
    const auto with = [](const std::string& amount, const std::string& interval) {
      return replaced(replaced(kStorageHypothesis, "\"time_ratio\"", "\"" + amount + "\""),
                      "interval = [1.7, 2.05]", interval);
    };
    const Hypothesis h = parse_hypothesis(with("time", "interval = [\"40 us\", \"60 us\"]"), "h");
    CHECK(*h.prediction.low == doctest::Approx(40e-6));
    CHECK(*h.prediction.high == doctest::Approx(60e-6));
    CHECK(says(with("time", "interval = [40, 60]"), "expected text with a unit"));
    CHECK(says(with("time", "interval = [\"60 us\", \"40 us\"]"), "low end is above its high end"));
    CHECK(says(with("time_ratio", "interval = [\"1.7\", 2]"), "this amount is a ratio"));
    CHECK(says(with("time_ratio", "interval = [2]"), "expected [low, high]"));
    CHECK(says(with("hbm_bytes", "at_most = \"3 s\""), "prediction.at_most"));
    const Hypothesis open = parse_hypothesis(with("hbm_share", "at_least = 0.8"), "h");
    CHECK(*open.prediction.low == 0.8);
    CHECK_FALSE(open.prediction.high.has_value());
  }

  TEST_CASE("a name that cannot be a record's is refused") {
    CHECK(says(replaced(kStorageHypothesis, "kind = \"hypothesis\"",
                        "kind = \"hypothesis\"\nname = \"../etc/passwd\""),
               "cannot name a record"));
  }

  TEST_CASE("what is written reads back as the same hypothesis") {
    std::string text =
        replaced(kStorageHypothesis, "[change]",
                 "set = [\"rows=4\", \"cols*=2\"]\nexpected_time = [\"40 us\", "
                 "\"50 us\"]\nexpected_source = \"a \\\"fit\\\"\\n of 3\"\n[change]");
    text = replaced(text, "[\"in\", \"out\"]", "[\"in\", \"out\", \"set.rows\", \"set.cols\"]");
    const Hypothesis h = parse_hypothesis(text, "h.toml");
    const std::string written = write_hypothesis(h);
    const Hypothesis again = parse_hypothesis(written, "other.toml");
    CHECK(again.name == "h");
    CHECK(again.question == h.question);
    CHECK(again.variant.set == h.variant.set);
    CHECK(again.variant.expected_source == "a \"fit\"\n of 3");
    CHECK(again.variant.expected_time->low.in_base_units() == doctest::Approx(40e-6));
    CHECK(again.prediction.low == h.prediction.low);
    CHECK(differences(again.baseline, h.baseline).empty());
    CHECK(differences(again.variant, h.variant).empty());
    CHECK(write_hypothesis(again) == written);
  }

  TEST_CASE("the table of amounts is in the order of its enumerators") {
    for (std::size_t i = 0; i < predicted_amounts().size(); ++i) {
      const PredictedAmountInfo& info = predicted_amounts()[i];
      CHECK(static_cast<std::size_t>(info.amount) == i);
      CHECK(predicted_amount_named(info.name) == info.amount);
    }
    CHECK_FALSE(predicted_amount_named("speed").has_value());
  }
}
