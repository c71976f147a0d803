// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "model/input/diagnostic.hpp"
#include "model/workload/architecture_file.hpp"

using namespace floorline;

namespace {

/// A small Llama: one line, so that columns are easy to count.
std::string small(const std::string& more) {
  return R"({"architectures":["LlamaForCausalLM"],"vocab_size":100,"hidden_size":8,)"
         R"("intermediate_size":16,"num_hidden_layers":2,"num_attention_heads":2,)"
         R"("num_key_value_heads":1,"tie_word_embeddings":false,"torch_dtype":"bfloat16")" +
         (more.empty() ? "" : ",\n" + more) + "}";
}

std::string error_of(const std::string& config) {
  try {
    parse_architecture(config, "m.json");
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

bool has_line(const std::vector<std::string>& lines, const std::string& line) {
  return std::find(lines.begin(), lines.end(), line) != lines.end();
}

std::int64_t parameters(const std::string& path) {
  const ParameterCount count = load_architecture(path).parameter_count();
  CHECK(count.active == count.total);
  return count.total;
}

}  // namespace

TEST_SUITE("workload") {
  TEST_CASE("shipped models have the published number of parameters") {
    // Llama-3.1-8B, a layer: q, o 4096² each 33,554,432; k, v 4096·1024 each 8,388,608;
    // gate, up, down 4096·14336 each 176,160,768; norms 8,192: 218,112,000. 32 layers:
    // 6,979,584,000. Embedding and lm_head 2·128256·4096 = 1,050,673,152, final norm 4,096.
    CHECK(parameters("workloads/llama-3.1-8b.json") == 8'030'261'248);
    // 70B, a layer: 2·8192² + 2·8192·1024 + 3·8192·28672 + 2·8192 = 134,217,728 + 16,777,216 +
    // 704,643,072 + 16,384 = 855,654,400; 80 of them 68,452,352,000; 2·128256·8192 + 8192 =
    // 2,101,354,496.
    CHECK(parameters("workloads/llama-3.1-70b.json") == 70'553'706'496);
    // 405B, a layer: 2·16384² + 2·16384·1024 + 3·16384·53248 + 2·16384 = 536,870,912 + 33,554,432
    // + 2,617,245,696 + 32,768 = 3,187,703,808; 126 of them 401,650,679,808; 2·128256·16384 +
    // 16384 = 4,202,708,992.
    CHECK(parameters("workloads/llama-3.1-405b.json") == 405'853'388'800);
    // Qwen3-0.6B, heads of 128 though 1024/16 = 64. A layer: q, o 1024·2048 each 4,194,304;
    // k, v 1024·1024 each 2,097,152; 3·1024·3072 = 9,437,184; norms 2·1024 + 2·128 = 2,304:
    // 15,730,944; 28 of them 440,466,432; one table 151936·1024 = 155,582,464; final norm 1,024.
    CHECK(parameters("workloads/qwen3-0.6b.json") == 596'049'920);
    // 8B, a layer: 2·4096² + 2·4096·1024 + 3·4096·12288 + 2·4096 + 256 = 33,554,432 + 8,388,608 +
    // 150,994,944 + 8,448 = 192,946,432; 36 of them 6,946,071,552; 2·151936·4096 + 4096 =
    // 1,244,663,808.
    CHECK(parameters("workloads/qwen3-8b.json") == 8'190'735'360);
    // 32B, a layer: q, o 5120·8192 twice 83,886,080; k, v 5120·1024 twice 10,485,760; 3·5120·25600
    // = 393,216,000; 2·5120 + 256 = 10,496: 487,598,336; 64 of them 31,206,293,504; 2·151936·5120
    // + 5120 = 1,555,829,760.
    CHECK(parameters("workloads/qwen3-32b.json") == 32'762'123'264);
    // Mistral-7B-v0.3: layers as Llama-3.1-8B 6,979,584,000; 2·32768·4096 + 4096 = 268,439,552.
    CHECK(parameters("workloads/mistral-7b-v0.3.json") == 7'248'023'552);
  }

  TEST_CASE("KV elements of a token: layers x heads x (key + value)") {
    // 32 layers · 8 heads · 2 · 128 = 65,536; 2 bytes each 131,072.
    const Architecture llama = load_architecture("workloads/llama-3.1-8b.json");
    CHECK(kv_elements_per_token(llama) == 65'536);
    CHECK(kv_elements_per_token(llama, 8) == 8'192);
    CHECK(kv_elements_per_token(llama, 16) == 8'192);  // never below one head a rank
    // Qwen2.5-7B: 28 layers, 4 KV heads of 128: 28·4·256 = 28,672 elements, 57,344 bytes at 16 bit.
    Architecture qwen;
    qwen.layers.resize(1);
    qwen.layers[0].count = 28;
    qwen.layers[0].attention = {.q_heads = 28, .kv_heads = 4, .head_dim = 128, .v_dim = 128};
    CHECK(kv_elements_per_token(qwen) * 2 == 57'344);
  }

  TEST_CASE("every weight has its shape, sharding and layers") {
    const Architecture a = load_architecture("workloads/llama-3.1-8b.json");
    CHECK(a.name == "llama-3.1-8b");
    CHECK(a.family == "llama");
    REQUIRE(a.layers.size() == 1);
    CHECK(a.layer_count() == 32);
    const NamedWeight* k = a.find_weight("layers.self_attn.k_proj.weight", 0);
    REQUIRE(k != nullptr);
    CHECK(k->rows == 1024);
    CHECK(k->cols == 4096);
    CHECK(k->count == 32);
    CHECK(k->sharding == Sharding::kv_heads);
    CHECK(rank_shape(*k, 4).rows == 256);
    CHECK(rank_shape(*k, 32).rows == 128);
    const NamedWeight* down = a.find_weight("layers.mlp.down_proj.weight", 0);
    CHECK(rank_shape(*down, 8).cols == 1792);
    CHECK(rank_shape(*down, 8).rows == 4096);
    const NamedWeight* head = a.find_weight("lm_head.weight", -1);
    CHECK(rank_shape(*head, 8).rows == 16'032);
    CHECK(rank_shape(*head, 5).rows == 25'652);  // 128256 / 5 rounded up
    CHECK(a.find_weight("layers.self_attn.q_proj.bias", 0) == nullptr);
  }

  TEST_CASE("ranks together hold every divided weight once") {
    const Architecture a = load_architecture("workloads/qwen3-32b.json");
    for (const NamedWeight& weight : a.weights) {
      const WeightShape rank = rank_shape(weight, 8);
      const std::int64_t copies = weight.sharding == Sharding::replicated ? 1 : 8;
      CHECK(rank.rows * rank.cols * copies == weight.rows * weight.cols);
    }
  }

  TEST_CASE("biases are weights: outputs divided with their rows, sums added once") {
    const Architecture a =
        parse_architecture(small(R"("attention_bias":true,"mlp_bias":true)"), "m.json");
    // Without: 2·100·8 + 8 + 2·(64 + 32 + 32 + 64 + 3·128 + 16) = 1608 + 1184 = 2792.
    // Biases: q 8, k 4, v 4, o 8, gate 16, up 16, down 8 = 64 a layer.
    CHECK(parse_architecture(small(""), "m.json").parameter_count().total == 2792);
    CHECK(a.parameter_count().total == 2920);
    CHECK(a.find_weight("layers.self_attn.o_proj.bias", 0)->sharding == Sharding::replicated);
    CHECK(a.find_weight("layers.self_attn.k_proj.bias", 0)->sharding == Sharding::kv_heads);
  }

  TEST_CASE("TOML with the same keys, model_type alone, and defaults that are told") {
    const Architecture a = parse_architecture(
        "model_type = \"llama\"\nvocab_size = 100\nhidden_size = 8\nintermediate_size = 16\n"
        "num_hidden_layers = 2\nnum_attention_heads = 2\nspecial_sauce = 3\n",
        "m.toml");
    CHECK(a.layers[0].attention.kv_heads == 2);
    CHECK(a.layers[0].attention.head_dim == 4);
    CHECK(has_line(a.assumptions, "num_key_value_heads = 2 (not given: as many as query heads)"));
    CHECK(has_line(a.assumptions, "tie_word_embeddings = false (not given: the default of llama)"));
    CHECK(has_line(a.assumptions, "weights are stored as bf16 (torch_dtype is not given)"));
    CHECK(has_line(a.assumptions,
                   "the configuration's key \"special_sauce\" is not known and not used"));
  }

  TEST_CASE("sliding windows: stated, null, default, and from a layer on") {
    const auto mistral = [](const std::string& more) {
      std::string config = small(more);
      config.replace(config.find("Llama"), 5, "Mistral");
      return parse_architecture(config, "m.json");
    };
    CHECK(mistral(R"("sliding_window":512)").layers[0].attention.window == 512);
    CHECK(mistral(R"("sliding_window":null)").layers[0].attention.window == 0);
    CHECK(mistral("").layers[0].attention.window == 4096);
    CHECK(has_line(mistral("").assumptions,
                   "sliding_window = 4096 (not given: the default of mistral)"));
    const auto qwen = [](const std::string& more) {
      std::string config = small(more);
      config.replace(config.find("Llama"), 5, "Qwen3");
      return parse_architecture(config, "m.json");
    };
    const Architecture two = qwen(R"("use_sliding_window":true,"sliding_window":64,)"
                                  R"("max_window_layers":1)");
    REQUIRE(two.layers.size() == 2);
    CHECK(two.layers[0].name == "full");
    CHECK(two.layers[1].name == "sliding");
    CHECK(two.layers[1].attention.window == 64);
    CHECK(two.layers[1].attention.head_dim == 128);
    CHECK(two.find_weight("layers.self_attn.q_norm.weight", 1)->count == 1);
    const Architecture off = qwen(R"("use_sliding_window":false,"sliding_window":64)");
    CHECK(off.layers.size() == 1);
    const Architecture typed = qwen(R"("layer_types":["full_attention","full_attention"])");
    CHECK(typed.layers.size() == 1);
  }

  TEST_CASE("an architecture not yet known is an error that names the field") {
    CHECK(error_of(R"({"architectures":["FooForCausalLM"]})")
              .starts_with("m.json:1:18: error: architectures: \"FooForCausalLM\" is not an "
                           "architecture known here; "));
    CHECK(error_of(R"({"model_type":"foo"})")
              .starts_with("m.json:1:15: error: model_type: \"foo\" is not an architecture known "
                           "here; "));
    CHECK(error_of(R"({"text_config":{}})")
              .starts_with("m.json:1:1: error: architectures: missing beside a text_config; "));
    CHECK(
        error_of(small(R"("model_type":"qwen3")")) ==
        "m.json:2:14: error: model_type: \"qwen3\" contradicts architectures; expected \"llama\"");
  }

  TEST_CASE("an unknown key that may change sizes is an error") {
    CHECK(
        error_of(small(R"("num_nextn_predict_layers":1)")) ==
        "m.json:2:28: error: num_nextn_predict_layers: is not understood for llama models and its "
        "name says that it may change sizes; expected a configuration without it, if it does not "
        "matter");
    CHECK(error_of(small(R"("vision_config":{})")) ==
          "m.json:2:17: error: vision_config: a model inside a model is not understood yet; "
          "expected a text model alone");
    for (const char* key : {"use_MoE_Experts", "sliding_window", "attn_logit_softcapping",
                            "ssm_size", "d_conv", "kv_lora_rank", "rope_dim"}) {
      CAPTURE(key);
      CHECK(error_of(small("\"" + std::string(key) + "\":1")).find("may change sizes") !=
            std::string::npos);
      CHECK(error_of(small("\"" + std::string(key) + "\":null")) == "no error");
    }
  }

  TEST_CASE("contradictions and absurd sizes are reported all at once") {
    CHECK(
        error_of(R"({"architectures":["LlamaForCausalLM"],"vocab_size":0,
"hidden_size":10,
"num_hidden_layers":1000000,
"num_attention_heads":4,
"num_key_value_heads":3,
"torch_dtype":"float7",
"partial_rotary_factor":0.5,
"hidden_act":"gelu"})") ==
        "m.json:1:1: error: intermediate_size: missing; expected a whole number from 1 up\n"
        "m.json:1:52: error: vocab_size: must be at least 1, not 0\n"
        "m.json:2:15: error: hidden_size: 10 is not a multiple of num_attention_heads = 4; "
        "expected one, or head_dim\n"
        "m.json:3:21: error: num_hidden_layers: 1000000 is more than any model has; expected at "
        "most 8192\n"
        "m.json:5:23: error: num_key_value_heads: 3 does not divide num_attention_heads = 4; "
        "expected a divisor of it\n"
        "m.json:6:15: error: torch_dtype: \"float7\" is not a storage format known here; expected "
        "bfloat16, float16 or float32\n"
        "m.json:7:25: error: partial_rotary_factor: partial_rotary_factor is not understood yet; "
        "expected 1\n"
        "m.json:8:14: error: hidden_act: \"gelu\" is not understood yet; expected silu");
  }

  TEST_CASE("layer_types must agree with the layers and have a window") {
    const auto qwen = [](const std::string& more) {
      std::string config = small(more);
      config.replace(config.find("Llama"), 5, "Qwen3");
      return error_of(config);
    };
    CHECK(qwen(R"("layer_types":["full_attention"])") ==
          "m.json:2:15: error: layer_types: has 1 layers; expected 2, as num_hidden_layers says");
    CHECK(qwen(R"("layer_types":["full_attention","linear_attention"])") ==
          "m.json:2:15: error: layer_types: \"linear_attention\" is not understood yet; expected "
          "full_attention or sliding_attention");
    CHECK(
        qwen(R"("layer_types":["full_attention","sliding_attention"])") ==
        "m.json:2:15: error: layer_types: has sliding_attention, but there is no window; expected "
        "sliding_window");
  }

  TEST_CASE("configurations as their publishers wrote them") {
    const std::filesystem::path folder = "../shared/model-configs";
    if (!std::filesystem::is_directory(folder)) {
      MESSAGE("skipped: no ../shared/model-configs beside this repository");
      return;
    }
    const auto of = [&](const char* file) { return parameters((folder / file).string()); };
    CHECK(of("meta-llama--Meta-Llama-3.1-8B.json") == 8'030'261'248);
    CHECK(of("meta-llama--Meta-Llama-3.1-70B.json") == 70'553'706'496);
    CHECK(of("meta-llama--Meta-Llama-3.1-405B.json") == 405'853'388'800);
    CHECK(of("Qwen--Qwen3-0.6B.json") == 596'049'920);
    CHECK(of("Qwen--Qwen3-8B.json") == 8'190'735'360);
    CHECK(of("Qwen--Qwen3-32B.json") == 32'762'123'264);
  }
}
