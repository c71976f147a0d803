// SPDX-License-Identifier: Apache-2.0
// Parameters and cache of model families, against what their publishers state.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "model/input/diagnostic.hpp"
#include "model/workload/architecture_file.hpp"

using namespace floorline;

namespace {

const std::filesystem::path kConfigs = "../shared/model-configs";

std::int64_t total(const std::string& path) {
  return load_architecture(path).parameter_count().total;
}

std::string error_of(const std::string& config) {
  try {
    parse_architecture(config, "m.json");
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace

TEST_SUITE("workload") {
  TEST_CASE("families have the parameters that their publishers state") {
    // 1. Mixtral-8x7B, a layer: q, o 4096² each 16,777,216; k, v 4096·1024 each 4,194,304; router
    // 8·4096 = 32,768; experts 8·3·4096·14336 = 1,409,286,144; norms 8,192: 1,451,270,144.
    // 32 layers 46,440,644,608; 2·32000·4096 + 4096 = 262,148,096. Publisher: 46.7 B (2023-12).
    CHECK(total("workloads/mixtral-8x7b.json") == 46'702'792'704);
    // 2. Qwen2.5-7B, a layer: q, o 3584² each 12,845,056; k, v 3584·512 each 1,835,008; biases
    // 3584 + 2·512 = 4,608; 3·3584·18944 = 203,685,888; norms 7,168: 233,057,792. 28 layers
    // 6,525,618,176; 2·152064·3584 + 3584 = 1,089,998,336. Publisher: 7.61 B (model card).
    CHECK(total("workloads/qwen2.5-7b.json") == 7'615'616'512);
    // 3. Qwen3-30B-A3B, a layer: q, o 2048·4096 each 8,388,608; k, v 2048·512 each 1,048,576; head
    // norms 256; router 128·2048 = 262,144; experts 128·3·2048·768 = 603,979,776; norms 4,096:
    // 623,120,640. 48 layers 29,909,790,720; 2·151936·2048 + 2048 = 622,331,904. Publisher: 30.5 B.
    CHECK(total("workloads/qwen3-30b-a3b.json") == 30'532'122'624);
    // 4. DeepSeek-V3, attention of a layer: q_a 1536·7168 = 11,010,048; its norm 1,536; q_b
    // 24576·1536 = 37,748,736; kv_a 576·7168 = 4,128,768; its norm 512; kv_b 32768·512 =
    // 16,777,216; o 7168·16384 = 117,440,512: 187,107,328; norms 14,336. Dense 3·7168·18432 =
    // 396,361,728. Experts: router 256·7168 + 256 = 1,835,264; 257·3·7168·2048 = 11,318,329,344
    // (256 and one shared). 61·187,121,664 + 3·396,361,728 + 58·11,320,164,608 =
    // 11,414,421,504 + 1,189,085,184 + 656,569,547,264; 2·129280·7168 + 7168 = 1,853,365,248.
    // Publisher: 671 B, and 11.5 B of the prediction module (README_WEIGHTS.md): a layer with
    // experts, 7168·14336 and three norms.
    const ParameterCount v3 = load_architecture("workloads/deepseek-v3.json").parameter_count();
    CHECK(v3.total == 671'026'419'200);
    CHECK(v3.active == 37'552'297'472);  // 37 B
    CHECK(v3.draft == 187'121'664 + 11'320'164'608 + 102'760'448 + 3 * 7'168);
    // 5. gpt-oss-20b, a layer: q 4096·2880 + 4096, k, v 512·2880 + 512 each, o 2880·4096 + 2880,
    // sinks 64: 26,550,208; router 32·2880 + 32 = 92,192; experts 32·(3·2880² + 3·2880) =
    // 796,538,880 ; norms 5,760: 823,187,040. 24 layers 19,756,488,960; 2·201088·2880 + 2880 =
    // 1,158,269,760. Publisher: 20.91 B and 116.83 B (arXiv 2508.10925, table 1).
    CHECK(total("workloads/gpt-oss-20b.json") == 20'914'757'184);
    CHECK(total("workloads/gpt-oss-120b.json") == 116'829'156'672);
    // 1 T, 32 B active (model card of Kimi-K2).
    const ParameterCount k2 = load_architecture("workloads/kimi-k2.json").parameter_count();
    CHECK(k2.total == 1'026'408'232'448);
    CHECK(k2.active == 32'861'500'928);
    // 17 B active, 109 B with the vision tower (model card); the text model alone:
    CHECK(total("workloads/llama-4-scout.json") == 107'769'861'120);
  }

  TEST_CASE("published configurations have the published number of parameters") {
    if (!std::filesystem::is_directory(kConfigs)) {
      MESSAGE("skipped: no ../shared/model-configs beside this repository");
      return;
    }
    const auto of = [](const char* file) { return total((kConfigs / file).string()); };
    CHECK(of("mistralai--Mixtral-8x7B-v0.1.json") == 46'702'792'704);
    CHECK(of("mistralai--Mixtral-8x22B-v0.1.json") == 140'620'634'112);  // 141 B
    CHECK(of("Qwen--Qwen3-30B-A3B.json") == 30'532'122'624);
    CHECK(of("Qwen--Qwen3-235B-A22B.json") == 235'093'634'560);
    CHECK(of("Qwen--Qwen3-VL-8B-Instruct.json") == 8'190'735'360);  // as Qwen3-8B
    CHECK(of("Qwen--Qwen3-32B-FP8.json") == 32'762'123'264);
    CHECK(of("deepseek-ai--DeepSeek-V3.json") == 671'026'419'200);
    CHECK(of("deepseek-ai--DeepSeek-R1.json") == 671'026'419'200);
    // V3 and 61 indexers of 8192·1536 + 128·7168 + 64·7168 + 2·128 = 13,959,424.
    CHECK(of("deepseek-ai--DeepSeek-V3.2.json") == 671'026'419'200 + 61 * 13'959'424LL);
    CHECK(of("moonshotai--Kimi-K2-Instruct.json") == 1'026'408'232'448);
    CHECK(of("openai--gpt-oss-20b.json") == 20'914'757'184);
    CHECK(of("openai--gpt-oss-120b.json") == 116'829'156'672);
    CHECK(of("meta-llama--Llama-4-Scout-17B-16E-Instruct.json") == 107'769'861'120);
    CHECK(of("MiniMaxAI--MiniMax-M2.5.json") == 228'689'764'864);  // 229 B, 10 B active
    CHECK(of("XiaomiMiMo--MiMo-7B-Base.json") == 7'622'619'136);
    CHECK(of("nvidia--Nemotron-H-56B-Base-8K.json") == 56'324'350'464);
    CHECK(of("nvidia--NVIDIA-Nemotron-3-Nano-30B-A3B-BF16.json") == 31'577'940'288);  // 31.6 B
    CHECK(of("Qwen--Qwen3.5-27B.json") == 26'895'998'464);
    CHECK(of("Qwen--Qwen3.5-35B-A3B.json") == 34'660'610'688);
    const ParameterCount gemma =
        load_architecture((kConfigs / "google--gemma-4-26B-A4B.json").string()).parameter_count();
    CHECK(gemma.total / 100'000'000 == 252);  // 25.2 B, 3.8 B active
    CHECK(gemma.active / 100'000'000 == 38);
  }

  TEST_CASE("families that no file above has: Phi-4, Gemma 2 and 3, Nemotron") {
    // Phi-4: 14.7 B (arXiv 2412.08905).
    CHECK(parse_architecture(
              R"({"architectures":["Phi3ForCausalLM"],"vocab_size":100352,"hidden_size":5120,
                  "intermediate_size":17920,"num_hidden_layers":40,"num_attention_heads":40,
                  "num_key_value_heads":10,"sliding_window":null,"tie_word_embeddings":false})",
              "m.json")
              .parameter_count()
              .total == 14'659'507'200);
    // Gemma-2-9B: 9.24 B (arXiv 2408.00118, table 2: 917,962,752 + 8,324,201,984 with 3584·256,000
    // embeddings, norms included).
    const Architecture gemma2 = parse_architecture(
        R"({"architectures":["Gemma2ForCausalLM"],"vocab_size":256000,"hidden_size":3584,
            "intermediate_size":14336,"num_hidden_layers":42,"num_attention_heads":16,
            "num_key_value_heads":8,"head_dim":256,"sliding_window":4096,
            "attn_logit_softcapping":50.0,"query_pre_attn_scalar":256,
            "hidden_activation":"gelu_pytorch_tanh"})",
        "m.json");
    CHECK(gemma2.parameter_count().total == 9'241'705'984);
    CHECK(gemma2.tied_embeddings);
    REQUIRE(gemma2.layers.size() == 2);
    CHECK(gemma2.layers[0].attention.window == 4096);
    CHECK(gemma2.layers[1].attention.window == 0);
    CHECK(gemma2.layers[1].count == 21);
    const Architecture gemma3 = parse_architecture(
        R"({"architectures":["Gemma3ForCausalLM"],"vocab_size":262144,"hidden_size":1152,
            "intermediate_size":6912,"num_hidden_layers":26,"num_attention_heads":4,
            "num_key_value_heads":1,"head_dim":256,"sliding_window":512,
            "sliding_window_pattern":6,"rope_local_base_freq":10000})",
        "m.json");
    CHECK(gemma3.parameter_count().total == 999'885'952);  // 1 B (arXiv 2503.19786)
    CHECK(gemma3.layers[0].count == 22);
    // Minitron-4B: 4.19 B (arXiv 2407.14679).
    CHECK(parse_architecture(
              R"({"architectures":["NemotronForCausalLM"],"vocab_size":256000,"hidden_size":3072,
                  "intermediate_size":9216,"num_hidden_layers":32,"num_attention_heads":24,
                  "num_key_value_heads":8,"head_dim":128,"hidden_act":"relu2",
                  "partial_rotary_factor":0.5,"norm_eps":1e-5,"tie_word_embeddings":false})",
              "m.json")
              .parameter_count()
              .total == 4'190'509'056);
  }

  TEST_CASE("cache of a token, by family") {
    const auto kv = [](const char* file) {
      return 2 * kv_elements_per_token(load_architecture(file));
    };
    CHECK(kv("workloads/qwen2.5-7b.json") == 57'344);    // 28 layers, 4 heads of 128
    CHECK(kv("workloads/deepseek-v3.json") == 70'272);   // 61 layers, 512 + 64, once
    CHECK(kv("workloads/gpt-oss-120b.json") == 73'728);  // 36 layers, all counted as full
    CHECK(kv("workloads/mixtral-8x7b.json") == 131'072);
    // Latents are on every rank; KV heads below one a rank too.
    const Architecture v3 = load_architecture("workloads/deepseek-v3.json");
    CHECK(kv_elements_per_token(v3, 8) == kv_elements_per_token(v3));
    const Architecture qwen = load_architecture("workloads/qwen2.5-7b.json");
    CHECK(kv_elements_per_token(qwen, 14) * 4 == kv_elements_per_token(qwen));
  }

  TEST_CASE("layer types that are not understood are errors that name them") {
    const std::string hybrid =
        R"({"architectures":["NemotronHForCausalLM"],"vocab_size":8,"hidden_size":8,
            "intermediate_size":8,"num_hidden_layers":2,"num_attention_heads":2,
            "num_key_value_heads":1,"mamba_num_heads":2,"mamba_head_dim":4,"n_groups":1,
            "ssm_state_size":4,"conv_kernel":4,"time_step_limit":[0.0, Infinity],
            "hybrid_override_pattern":)";
    CHECK(error_of(hybrid + "\"MX\"}").find("layer type \"X\" is not understood") !=
          std::string::npos);
    CHECK(error_of(hybrid + "\"M*\"}") == "no error");
    CHECK(error_of(hybrid + "\"M*\", \"mamba_head_dims\":NaN}").find("not valid JSON") !=
          std::string::npos);
    const std::string qwen =
        R"({"architectures":["Qwen3_5ForConditionalGeneration"],"text_config":{"vocab_size":8,
            "hidden_size":8,"intermediate_size":8,"num_hidden_layers":1,"num_attention_heads":2,
            "num_key_value_heads":1,"linear_num_value_heads":2,"linear_value_head_dim":4,
            "linear_num_key_heads":1,"linear_key_head_dim":4,"linear_conv_kernel_dim":4,)";
    CHECK(error_of(qwen + R"("layer_types":["kda"]}})")
              .find("text_config.layer_types: \"kda\" is not understood yet") != std::string::npos);
    CHECK(error_of(qwen + R"("layer_types":["full_attention"],"kv_share":1}})")
              .find("text_config.kv_share: is not understood") != std::string::npos);
  }
}
