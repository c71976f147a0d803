// SPDX-License-Identifier: Apache-2.0
#include "model/timeline/kinds/layer_offload.hpp"

#include <doctest/doctest.h>

#include "tests/timeline/kind_text.hpp"

using namespace floorline;

namespace {

/// Copies of 10 ms.
std::string offload(int layers, int offloaded, const char* layer_time, int prefetch) {
  return "[layer_offload]\nlayers = " + std::to_string(layers) +
         "\noffloaded = " + std::to_string(offloaded) + "\nlayer_time = \"" + layer_time +
         "\"\nlayer_bytes = \"100 MB\"\nbandwidth = \"10 GB/s\"\nprefetch = " +
         std::to_string(prefetch) + "\n";
}

std::string seventy_billion(int prefetch, const char* layer_time) {
  return std::string(
             "[layer_offload]\nlayers = 80\noffloaded = 64\nlayer_bytes = \"0.42 GiB\"\n"
             "bandwidth = \"10.53 GiB/s\"\ntarget_tokens_per_s = 5\nlayer_time = \"") +
         layer_time + "\"\nprefetch = " + std::to_string(prefetch) + "\n";
}

}  // namespace

TEST_SUITE("timeline") {
  TEST_CASE("two of four layers offloaded, copies of 10 ms") {
    // Layers of 3 ms, two buffers: the link's 20 ms a token. One buffer: a copy waits for the
    // layer that reads the last: 2 x (10 + 3).
    CHECK(RunKind(offload(4, 2, "3 ms", 1)).period_ms() == doctest::Approx(20));
    CHECK(RunKind(offload(4, 2, "3 ms", 0)).period_ms() == doctest::Approx(26));
    // Layers of 15 ms: compute, 60 ms, hides either.
    CHECK(RunKind(offload(4, 2, "15 ms", 1)).period_ms() == doctest::Approx(60));
    CHECK(RunKind(offload(4, 2, "15 ms", 0)).period_ms() == doctest::Approx(60));
    // All four: 4 x 10, or 4 x 13 with one buffer.
    CHECK(RunKind(offload(4, 4, "3 ms", 1)).period_ms() == doctest::Approx(40));
    CHECK(RunKind(offload(4, 4, "3 ms", 0)).period_ms() == doctest::Approx(52));
    // More buffers than the link needs buy nothing.
    CHECK(RunKind(offload(4, 2, "3 ms", 7)).period_ms() == doctest::Approx(20));
    CHECK(RunKind(offload(4, 0, "3 ms", 1)).period_ms() == doctest::Approx(12));
  }

  TEST_CASE("which layers are offloaded") {
    // The last two, one buffer: layers 0 and 1 hide 6 ms of the copy of layer 2; then 3, copy 10,
    // 3. copy 2 starts after layer 3 of the token before: 10 + 3 + 10 + 3 = 26 as well.
    CHECK(RunKind(offload(4, 2, "3 ms", 0) + "placement = \"last\"\n").period_ms() ==
          doctest::Approx(26));
    // Layers of 15 ms, one buffer, first two: copy 0 starts after layer 1 (2 and 3 hide it), copy 1
    // after layer 0: 15 + 10 + 15 + 15 + 15 = 70.
    CHECK(RunKind(offload(4, 2, "15 ms", 0) + "placement = \"first\"\n").period_ms() ==
          doctest::Approx(70));
  }

  TEST_CASE("64 of 80 layers of 0.42 GiB at 10.53 GiB/s") {
    // 64 x 0.42 = 26.88 GiB; 26.88 / 10.53 = 2.5527 s: 0.39174 token/s, prefetched or not.
    const RunKind run(seventy_billion(1, "0.73 ms"));
    CHECK(run.fact("tokens_per_s_ceiling") == doctest::Approx(0.39174).epsilon(1e-4));
    CHECK(run.fact("tokens_per_s") == doctest::Approx(0.39174).epsilon(1e-4));
    CHECK(run.fact("bytes_per_token") == doctest::Approx(26.88 * 1073741824.0));
    // A copy takes 39.886 ms: five take 199.43 of the 200 ms a token may, so the link allows 5.
    CHECK(run.fact("offloaded_layers_at_most_by_link") == 5);
    CHECK(run.fact("offloaded_layers_at_most") == 5);
    // One buffer: each waits for 0.73 ms of compute; 5 x 40.616 = 203.1 ms is too long: 4.
    CHECK(RunKind(seventy_billion(0, "0.73 ms")).fact("offloaded_layers_at_most") == 4);
    // 80 layers of 3 ms take 240 ms: no layer can be offloaded for 5 token/s, nor none.
    CHECK_FALSE(RunKind(seventy_billion(1, "3 ms")).has("offloaded_layers_at_most"));
  }

  TEST_CASE("bounds of layer offload") {
    CHECK(refusal(offload(4, 5, "1 ms", 1)).find("5 of 4 layers") != std::string::npos);
    CHECK(refusal(offload(20000, 5, "1 ms", 1)).find("at most 2000") != std::string::npos);
    CHECK(refusal(offload(2000, 5, "1 ms", 1) + "tokens = 100\n").find("times layers") !=
          std::string::npos);
    CHECK(refusal(offload(4, 2, "1 ms", 1) + "target_tokens_per_s = 0\n").find("above zero") !=
          std::string::npos);
    CHECK(refusal("[layer_offload]\nlayers = 4\noffloaded = 1\nlayer_bytes = \"1 GB\"\n"
                  "bandwidth = \"0 GB/s\"\n")
              .find("is zero") != std::string::npos);
  }
}
