// SPDX-License-Identifier: Apache-2.0
// Storage, scales and compute precision that quantization_config implies.
#include <doctest/doctest.h>

#include <string>

#include "model/input/diagnostic.hpp"
#include "model/workload/architecture/module_pattern.hpp"
#include "model/workload/architecture_file.hpp"

using namespace floorline;

namespace {

/// A Llama of two layers, h = 256, f = 512, 2 heads of 128, and its quantization.
Architecture quantized(const std::string& q) {
  return parse_architecture(
      R"({"architectures":["LlamaForCausalLM"],"vocab_size":100,"hidden_size":256,)"
      R"("intermediate_size":512,"num_hidden_layers":2,"num_attention_heads":2,)"
      R"("num_key_value_heads":2,"torch_dtype":"bfloat16","quantization_config":)" +
          q + "}",
      "m.json");
}

std::string error_of(const std::string& q) {
  try {
    quantized(q);
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

double bits_of(const Architecture& a, const std::string& matrix) {
  double bits = 0;
  double elements = 0;
  for (const NamedWeight& w : a.weights) {
    if (!w.name.starts_with(matrix)) continue;
    const double size = static_cast<double>(w.rows * w.cols * w.count);
    bits += size * storage_bits(w.storage);
    if (!w.scale) elements += size;
  }
  return bits / elements;
}

bool matches(const char* pattern, const char* module) {
  std::string error;
  const ModulePattern p(pattern, error);
  CHECK(error == "");
  return p.matches(module);
}

}  // namespace

TEST_SUITE("workload") {
  TEST_CASE("bits of a weight, scales and zero points included") {
    const char* const up = "layers.mlp.up_proj.weight";  // [512, 256]
    const char* const kGroups = R"("group_size":128,"bits":4,"zero_point":true)";
    CHECK(bits_of(quantized(std::string(R"({"quant_method":"awq",)") + kGroups + "}"), up) ==
          4.15625);
    CHECK(bits_of(quantized(R"({"quant_method":"gptq","bits":4,"group_size":128})"), up) ==
          4.15625);
    CHECK(bits_of(quantized(R"({"quant_method":"mxfp4"})"), up) == 4.25);
    // One fp32 for 131,072 elements; for each row of 256; for each 128 x 128.
    CHECK(bits_of(quantized(R"({"quant_method":"fp8"})"), up) == 8 + 32.0 / 131072);
    CHECK(bits_of(quantized(R"({"quant_method":"fbgemm_fp8"})"), up) == 8 + 32.0 / 256);
    CHECK(bits_of(quantized(R"({"quant_method":"fp8","weight_block_size":[128,128]})"), up) ==
          8 + 32.0 / 16384);
    // Two fp32 for the matrix: of the weights and of its input.
    CHECK(bits_of(quantized(R"({"quant_method":"modelopt","quant_algo":"NVFP4"})"), up) ==
          4.5 + 64.0 / 131072);
  }

  TEST_CASE("compute follows what is quantized; the rest stays as it was") {
    const auto compute = [](const std::string& q) {
      return quantized(q).find_weight("layers.mlp.up_proj.weight", 0)->compute;
    };
    CHECK(compute(R"({"quant_method":"fp8"})") == Precision::fp8_e4m3);
    CHECK(compute(R"({"quant_method":"awq","bits":4,"group_size":128})") == Precision::none);
    CHECK(compute(R"({"quant_method":"mxfp4"})") == Precision::none);
    const std::string w8 =
        R"({"quant_method":"compressed-tensors","ignore":["lm_head"],"config_groups":{"group_0":{)"
        R"("targets":["Linear"],"weights":{"num_bits":8,"type":"int","strategy":"channel"})";
    CHECK(compute(w8 + R"(,"input_activations":{"num_bits":8,"type":"int"}}}})") ==
          Precision::int8);
    CHECK(compute(w8 + R"(,"input_activations":null}}})") == Precision::none);
    const Architecture a = quantized(w8 +
                                     "}},\"kv_cache_scheme\":{\"num_bits\":8,\"type\":"
                                     "\"float\"}}");
    CHECK(a.kv_dtype == Precision::fp8_e4m3);
    CHECK(a.find_weight("lm_head.weight", -1)->storage == Precision::bf16);
    CHECK(a.find_weight("embed_tokens.weight", -1)->storage == Precision::bf16);
    CHECK(a.find_weight("layers.input_layernorm.weight", 0)->storage == Precision::bf16);
    CHECK(a.parameter_count().total == quantized("null").parameter_count().total);
    CHECK(error_of(R"({"quant_method":"hqq"})").find("quantization_config.quant_method: \"hqq\"") !=
          std::string::npos);
  }

  TEST_CASE("layers that are kept apart are kinds of their own") {
    const Architecture a = quantized(
        R"({"quant_method":"fp8","modules_to_not_convert":["model.layers.1.mlp.down_proj",)"
        R"("lm_head"]})");
    REQUIRE(a.layers.size() == 2);
    CHECK(a.layers[1].name == "full_2");
    CHECK(a.find_weight("layers.mlp.down_proj.weight", 0)->storage == Precision::fp8_e4m3);
    CHECK(a.find_weight("layers.mlp.down_proj.weight", 1)->storage == Precision::bf16);
    CHECK(a.find_weight("layers.mlp.up_proj.weight", 1)->storage == Precision::fp8_e4m3);
    CHECK(a.find_weight("layers.mlp.up_proj.weight", 1)->count == 1);
    const Architecture whole =
        quantized(R"({"quant_method":"fp8","ignored_layers":["re:.*self_attn.*"]})");
    CHECK(whole.layers.size() == 1);
    CHECK(whole.find_weight("layers.self_attn.q_proj.weight", 0)->storage == Precision::bf16);
  }

  TEST_CASE("patterns of module names") {
    CHECK(matches("lm_head", "lm_head"));
    CHECK(matches("gate", "layers.3.mlp.gate"));
    CHECK_FALSE(matches("gate", "layers.3.mlp.gate_proj"));
    CHECK(matches("model.layers.1", "layers.1.mlp.up_proj"));
    CHECK_FALSE(matches("model.layers.1", "layers.10.mlp.up_proj"));
    CHECK(matches("model.layers.*.self_attn", "layers.3.self_attn.q_proj"));
    CHECK(matches("re:.*mlp.gate$", "layers.3.mlp.gate"));
    CHECK_FALSE(matches("re:.*mlp.gate$", "layers.3.mlp.gate_proj"));
    CHECK(matches("re:model\\.layers\\.\\d+\\.mlp.*", "layers.12.mlp.up_proj"));
    CHECK(matches("re:.*lm_head", "lm_head"));
    CHECK_FALSE(matches("visual", "layers.3.mlp.gate"));
    std::string error;
    const ModulePattern bad("re:(a|b)", error);
    CHECK(error.find("not understood") != std::string::npos);
  }

  TEST_CASE("a published checkpoint has the size that its publisher states") {
    // gpt-oss: 60.8 and 12.8 GiB (arXiv 2508.10925, table 1).
    const auto bytes = [](const char* file) {
      double sum = 0;
      for (const NamedWeight& w : load_architecture(file).weights) {
        sum += static_cast<double>(w.rows * w.cols * w.count) * storage_bits(w.storage) / 8;
      }
      return sum / (1024.0 * 1024.0 * 1024.0);
    };
    CHECK(bytes("workloads/gpt-oss-120b.json") == doctest::Approx(60.8).epsilon(0.001));
    CHECK(bytes("workloads/gpt-oss-20b.json") == doctest::Approx(12.8).epsilon(0.002));
  }
}
