// SPDX-License-Identifier: Apache-2.0
// The hypothesis file of the design, for tests that change a line of it.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace floorline::testing {

inline const std::string kStorageHypothesis = R"(schema = 1
kind = "hypothesis"
question = "Does storing activations in fp16 halve LayerNorm's time?"
boundary = "one kernel, device events, cold caches"
claimed_limit = "hbm"
evidence = "mechanism"
device = "h100_sxm"
[baseline]
op = "layernorm rows=8192 cols=4096 in=fp32 out=fp32 weight=fp32 compute=fp32"
[variant]
op = "layernorm rows=8192 cols=4096 in=fp16 out=fp16 weight=fp32 compute=fp32"
[change]
variable = "activation storage"
keys = ["in", "out"]
[prediction]
amount = "time_ratio"
interval = [1.7, 2.05]
refuted_if = "outside the interval, or no change within the spread"
)";

inline std::string replaced(std::string text, std::string_view what, std::string_view with) {
  const std::size_t at = text.find(what);
  REQUIRE_MESSAGE(at != std::string::npos, what);
  return text.replace(at, what.size(), with);
}

}  // namespace floorline::testing
