// SPDX-License-Identifier: Apache-2.0
#include "model/ledger/kv_format.hpp"

#include <doctest/doctest.h>

using namespace floorline;

namespace {

LayerGroup heads(std::int64_t kv_heads, std::int64_t head_dim) {
  LayerGroup layer;
  layer.count = 1;
  layer.attention.q_heads = 32;
  layer.attention.kv_heads = kv_heads;
  layer.attention.head_dim = layer.attention.v_dim = head_dim;
  return layer;
}

/// DeepSeek-V3: 512 + 64; V3.2 with an index of 64 heads of 128.
LayerGroup latent(bool index) {
  LayerGroup layer;
  layer.mixer = Mixer::latent_attention;
  layer.latent.kv_rank = 512;
  layer.latent.rope_dim = 64;
  layer.latent.index_heads = index ? 64 : 0;
  layer.latent.index_dim = index ? 128 : 0;
  return layer;
}

ByteCount bytes(const LayerGroup& layer, const char* format, std::int64_t tp = 1) {
  const auto f = kv_format_from(format);
  REQUIRE(f);
  return kv_bytes_per_token(layer, *f, tp);
}

}  // namespace

TEST_SUITE("ledger") {
  TEST_CASE("bytes of a token in a layer, eight KV heads of 128") {
    const LayerGroup layer = heads(8, 128);
    CHECK(bytes(layer, "bf16") == ByteCount(4096));  // 8 x 2 x 128 x 2
    CHECK(bytes(layer, "fp8") == ByteCount(2048));
    CHECK(bytes(layer, "int8_per_token_head") == ByteCount(2112));  // 8 x 2 x (128 + 4)
    CHECK(bytes(layer, "fp8_per_token_head") == ByteCount(2112));
    CHECK(bytes(layer, "nvfp4") == ByteCount(1152));  // 8 x 2 x (64 + 8)
    CHECK(bytes(layer, "q8_0") == ByteCount(2176));   // 8 x 2 x 4 blocks x 34
    CHECK(bytes(layer, "q4_0") == ByteCount(1152));   // 8 x 2 x 4 blocks x 18
    CHECK(bytes(layer, "q5_1") == ByteCount(1536));   // 8 x 2 x 4 blocks x 24
    CHECK(bytes(layer, "fp32") == ByteCount(8192));
  }

  TEST_CASE("a rank never has less than one KV head") {
    const LayerGroup layer = heads(8, 128);
    CHECK(bytes(layer, "bf16", 2) == ByteCount(2048));
    CHECK(bytes(layer, "bf16", 8) == ByteCount(512));
    CHECK(bytes(layer, "bf16", 16) == ByteCount(512));
    CHECK(bytes(heads(1, 128), "bf16", 8) == ByteCount(512));  // multi-query
  }

  TEST_CASE("latents are whole on every rank, with or without the index") {
    CHECK(bytes(latent(false), "bf16") == ByteCount(1152));  // (512 + 64) x 2
    CHECK(bytes(latent(false), "bf16", 8) == ByteCount(1152));
    CHECK(bytes(latent(false), "fp8_ds_mla") == ByteCount(656));       // 512 + 16 + 128
    CHECK(bytes(latent(true), "fp8_ds_mla") == ByteCount(656 + 132));  // 128 + 4
    CHECK(bytes(latent(true), "bf16") == ByteCount(1152 + 132));
  }

  TEST_CASE("formats that cannot hold a cache say why") {
    CHECK(format_error(heads(8, 128), *kv_format_from("fp8_ds_mla")) != "");
    CHECK(format_error(latent(false), *kv_format_from("int8_per_token_head")) != "");
    CHECK(format_error(latent(false), *kv_format_from("fp8_ds_mla")) == "");
    CHECK_FALSE(kv_format_from("fp7"));
    CHECK_FALSE(kv_format_from("any"));
    CHECK_FALSE(kv_format_from("none"));
  }

  TEST_CASE("state of a sequence in one layer") {
    // Qwen3.5-27B: 48 value heads of 128, 16 key heads of 128, 4 taps. conv 3 x (48 x 128 + 2 x 16
    // x 128) x 2 B = 61,440; recurrent 48 x 128 x 128 x 4 B = 3,145,728.
    LayerGroup layer;
    layer.mixer = Mixer::gated_delta_net;
    layer.state = {48, 128, 16, 128, 4, Precision::fp32};
    CHECK(state_bytes(layer, Precision::bf16, 1) == ByteCount(61440 + 3145728));
    // tp 2: 24 and 8 heads: half of both. tp 32: value heads do not divide, see check_model.
    CHECK(state_bytes(layer, Precision::bf16, 2) == ByteCount(30720 + 1572864));
    // Key heads that tp exceeds are on every rank: 3 value heads, 1 key head on 16 ranks.
    CHECK(state_bytes(layer, Precision::bf16, 16) ==
          ByteCount(3 * (3 * 128 + 2 * 128) * 2 + 3 * 128 * 128 * 4));
    CHECK(state_bytes(heads(8, 128), Precision::bf16, 1) == ByteCount(0));
  }
}
