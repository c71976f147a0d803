// SPDX-License-Identifier: Apache-2.0
#include "model/workload/architecture_file.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include "model/input/table_reader.hpp"
#include "model/workload/architecture/family.hpp"
#include "model/workload/architecture/quantization.hpp"

namespace floorline {

namespace {

/// Where the keys of the text model stand.
enum class Inside : std::uint8_t { top, text_config };

struct Family {
  std::string_view architecture;  ///< architectures[0]
  std::string_view model_type;    ///< where a file has no architectures
  ReadFamily read;
  Inside where = Inside::top;
};

// Several model types of one architecture are several rows.
constexpr std::array kFamilies{
    Family{"DeepseekV2ForCausalLM", "deepseek_v2", read_deepseek_v2},
    Family{"DeepseekV3ForCausalLM", "deepseek_v3", read_deepseek_v3},
    Family{"DeepseekV3ForCausalLM", "kimi_k2", read_kimi_k2},
    Family{"DeepseekV32ForCausalLM", "deepseek_v32", read_deepseek_v32},
    Family{"Gemma2ForCausalLM", "gemma2", read_gemma2},
    Family{"Gemma3ForCausalLM", "gemma3_text", read_gemma3_text},
    Family{"Gemma3ForConditionalGeneration", "gemma3", read_gemma3_text, Inside::text_config},
    Family{"Gemma4ForConditionalGeneration", "gemma4", read_gemma4_text, Inside::text_config},
    Family{"GptOssForCausalLM", "gpt_oss", read_gpt_oss},
    Family{"Llama4ForCausalLM", "llama4_text", read_llama4_text},
    Family{"Llama4ForConditionalGeneration", "llama4", read_llama4_text, Inside::text_config},
    Family{"LlamaForCausalLM", "llama", read_llama},
    Family{"MiMoForCausalLM", "mimo", read_mimo},
    Family{"MiniMaxM2ForCausalLM", "minimax_m2", read_minimax_m2},
    Family{"MistralForCausalLM", "mistral", read_mistral},
    Family{"MixtralForCausalLM", "mixtral", read_mixtral},
    Family{"NemotronForCausalLM", "nemotron", read_nemotron},
    Family{"NemotronHForCausalLM", "nemotron_h", read_nemotron_h},
    Family{"Phi3ForCausalLM", "phi3", read_phi3},
    Family{"Qwen2ForCausalLM", "qwen2", read_qwen2},
    Family{"Qwen3ForCausalLM", "qwen3", read_qwen3},
    Family{"Qwen3MoeForCausalLM", "qwen3_moe", read_qwen3_moe},
    Family{"Qwen3VLForConditionalGeneration", "qwen3_vl", read_qwen3, Inside::text_config},
    Family{"Qwen3VLMoeForConditionalGeneration", "qwen3_vl_moe", read_qwen3_moe,
           Inside::text_config},
    Family{"Qwen3_5ForConditionalGeneration", "qwen3_5", read_qwen3_5_text, Inside::text_config},
    Family{"Qwen3_5MoeForConditionalGeneration", "qwen3_5_moe", read_qwen3_5_moe_text,
           Inside::text_config},
};

struct IgnoredKey {
  std::string_view key;
  std::string_view reason;
};

constexpr std::array kIgnored{
    IgnoredKey{"_attn_implementation", "which kernel runs, not what it computes"},
    IgnoredKey{"_name_or_path", "where the file was"},
    IgnoredKey{"attention_dropout", "training only"},
    IgnoredKey{"attn_implementation", "which kernel runs, not what it computes"},
    IgnoredKey{"auto_map", "names of Python classes"},
    IgnoredKey{"bos_token_id", "a value, no size"},
    IgnoredKey{"eos_token_id", "a value, no size"},
    IgnoredKey{"generation_config", "sampling"},
    IgnoredKey{"initializer_range", "training only"},
    IgnoredKey{"layer_norm_eps", "a value, no size"},
    IgnoredKey{"output_attentions", "what Python returns"},
    IgnoredKey{"output_hidden_states", "what Python returns"},
    IgnoredKey{"pad_token_id", "a value, no size"},
    IgnoredKey{"pretraining_tp", "how it was trained"},
    IgnoredKey{"return_dict", "what Python returns"},
    IgnoredKey{"rms_norm_eps", "a value, no size"},
    IgnoredKey{"rope_parameters", "angles, no sizes"},
    IgnoredKey{"rope_scaling", "angles, no sizes"},
    IgnoredKey{"rope_theta", "angles, no sizes"},
    IgnoredKey{"transformers_version", "what wrote the file"},
    IgnoredKey{"use_cache", "whether Python keeps the cache"},
};

/// An unknown key with one of these in its name may change sizes (design §15).
constexpr std::array<std::string_view, 14> kSizeWords{
    "attn",  "attention", "layer", "expert", "head", "window", "rope",
    "quant", "mlp",       "state", "ssm",    "conv", "kv",     "mtp"};

bool may_change_sizes(const std::string& key) {
  std::string lower = key;
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  const auto has_word = [&](std::string_view word) {
    return lower.find(word) != std::string::npos;
  };
  return std::any_of(kSizeWords.begin(), kSizeWords.end(), has_word);
}

bool is_ignored(std::string_view key) {
  // Ids of tokens: values, no sizes.
  if (key.ends_with("_token_id") || key.ends_with("_token_index")) return true;
  return std::any_of(kIgnored.begin(), kIgnored.end(),
                     [&](const IgnoredKey& ignored) { return ignored.key == key; });
}

/// Text as it may stand in one line of a report.
std::string quoted(const std::string& text) {
  constexpr std::size_t kMost = 60;
  std::string out;
  for (const char c : text.substr(0, kMost)) out += c < ' ' && c >= 0 ? '?' : c;
  return "\"" + out + (text.size() > kMost ? "..." : "") + "\"";
}

/// Keys that the family did not read.
void judge_the_rest(TableReader& config, const Node& root, Architecture& architecture) {
  for (const std::string& key : config.unread_keys()) {
    const Node& value = *root.find(key);
    if (value.kind == Node::Kind::null || is_ignored(key)) continue;
    if (value.kind == Node::Kind::table && key.ends_with("_config")) {
      config.error(key,
                   "a model inside a model is not understood yet; expected a text model alone");
    } else if (may_change_sizes(key)) {
      config.error(key, "is not understood for " + architecture.family +
                            " models and its name says that it may change sizes; expected a "
                            "configuration without it, if it does not matter");
    } else {
      architecture.assumptions.push_back("the configuration's key " + quoted(key) +
                                         " is not known and not used");
    }
  }
  config.ignore_unread();
}

constexpr const char* kList = "workloads/MODELS.md lists those that are";

/// The row of an architecture, and among several that of the model type.
const Family* find_family(const std::string* architecture, const std::string* type) {
  const Family* found = nullptr;
  for (const Family& family : kFamilies) {
    const bool same_type = type != nullptr && family.model_type == *type;
    if (architecture != nullptr ? family.architecture == *architecture : same_type) {
      if (found == nullptr || same_type) found = &family;
    }
  }
  return found;
}

const Family* family_of(TableReader& config) {
  const std::optional<std::vector<std::string>> named = config.texts("architectures");
  const std::optional<std::string> type = config.text("model_type");
  if (!config.diagnostics().empty()) return nullptr;
  const bool by_name = named && !named->empty();
  if (!by_name && !type) {
    const bool nested = config.has("text_config");
    config.error("architectures",
                 std::string(nested ? "missing beside a text_config" : "missing") + "; " + kList);
    return nullptr;
  }
  const Family* found = find_family(by_name ? &named->front() : nullptr, type ? &*type : nullptr);
  if (found == nullptr) {
    const std::string& name = by_name ? named->front() : *type;
    std::vector<std::string> names;
    for (const Family& f : kFamilies) names.emplace_back(by_name ? f.architecture : f.model_type);
    config.error(by_name ? "architectures" : "model_type",
                 quoted(name) + " is not an architecture known here" + did_you_mean(name, names) +
                     "; " + kList);
    return nullptr;
  }
  if (by_name && type && *type != found->model_type) {
    config.error("model_type", quoted(*type) + " contradicts architectures; expected \"" +
                                   std::string(found->model_type) + "\"");
  }
  return found;
}

/// The text model of a configuration that has one inside, with what it inherits from outside.
Architecture read_inside(TableReader& outer, const Node& root, const Family& family) {
  const Node* inner = outer.required_node("text_config", "a table with the text model");
  if (inner == nullptr || inner->kind != Node::Kind::table) {
    if (inner != nullptr) outer.error("text_config", "expected a table with the text model");
    return {};
  }
  Node whole = *inner;
  for (const char* key : {"tie_word_embeddings", "torch_dtype", "dtype"}) {
    const Node* value = outer.node(key);
    const bool stated = whole.find("dtype") != nullptr || whole.find("torch_dtype") != nullptr;
    const bool is_dtype = std::string_view(key) != "tie_word_embeddings";
    if (value == nullptr || whole.find(key) != nullptr || (is_dtype && stated)) continue;
    whole.members.push_back({key, value->at, *value});
  }
  TableReader reader(whole, "text_config", outer.diagnostics());
  reader.node("model_type");
  Architecture architecture = family.read(reader);
  const bool here = reader.has("quantization_config");
  read_quantization(here ? reader : outer, architecture);
  reader.node("quantization_config");
  outer.node("quantization_config");
  judge_the_rest(reader, whole, architecture);
  for (const char* key : {"vision_config", "audio_config"}) {
    const Node* other = outer.node(key);
    if (other == nullptr || other->kind == Node::Kind::null) continue;
    architecture.assumptions.push_back(std::string(key == std::string_view("vision_config")
                                                       ? "the vision tower (vision_config"
                                                       : "the audio tower (audio_config") +
                                       ") and its projector are not counted");
  }
  judge_the_rest(outer, root, architecture);
  return architecture;
}

/// Products of sizes stay within 63 bits one by one; all of a model must too.
void refuse_overflow(const Architecture& architecture, const Node& config,
                     Diagnostics& diagnostics) {
  constexpr double kMostParameters = 1e18;
  double sum = 0;
  for (const NamedWeight& w : architecture.weights) {
    sum += static_cast<double>(w.rows) * static_cast<double>(w.cols) * static_cast<double>(w.count);
  }
  if (sum > kMostParameters) {
    diagnostics.add(config.at, "", "more than 10^18 parameters; expected a model that could exist");
  }
}

std::string name_of_file(const std::string& path) {
  const std::filesystem::path file(path);
  const std::string stem = file.stem().string();
  const std::string folder = file.parent_path().filename().string();
  return stem == "config" && !folder.empty() ? folder : stem;
}

}  // namespace

Architecture architecture_from(const Node& config, std::string name) {
  Diagnostics diagnostics;
  Architecture architecture;
  constexpr std::size_t kMostKeys = 4096;
  if (config.members.size() > kMostKeys) {
    throw InputError(Diagnostic{
        config.at, "",
        "more than " + std::to_string(kMostKeys) + " keys; expected a model's configuration"});
  }
  {
    TableReader reader(config, "", diagnostics);
    const Family* family = family_of(reader);
    if (family == nullptr) {
      reader.ignore_unread();
    } else {
      const bool inside = family->where == Inside::text_config;
      architecture = inside ? read_inside(reader, config, *family) : family->read(reader);
      if (!inside) {
        read_quantization(reader, architecture);
        reader.node("quantization_config");
        judge_the_rest(reader, config, architecture);
      }
    }
  }
  if (diagnostics.empty()) refuse_overflow(architecture, config, diagnostics);
  diagnostics.throw_if_any();
  architecture.name = std::move(name);
  architecture.at = config.at;
  return architecture;
}

Architecture load_architecture(const std::string& path) {
  return architecture_from(read_document(path), name_of_file(path));
}

Architecture parse_architecture(std::string_view text, std::string_view file_name) {
  return architecture_from(parse_document(text, file_name), name_of_file(std::string(file_name)));
}

bool is_model_config(const Node& document) {
  if (document.kind != Node::Kind::table || document.find("schema") != nullptr) return false;
  constexpr std::array<std::string_view, 4> kKeys{"architectures", "model_type", "hidden_size",
                                                  "text_config"};
  return std::any_of(kKeys.begin(), kKeys.end(),
                     [&](std::string_view key) { return document.find(key) != nullptr; });
}

std::vector<std::string> known_architectures() {
  std::vector<std::string> names;
  for (const Family& family : kFamilies) {
    if (names.empty() || names.back() != family.architecture) {
      names.emplace_back(family.architecture);
    }
  }
  return names;
}

}  // namespace floorline
