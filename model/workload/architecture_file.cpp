// SPDX-License-Identifier: Apache-2.0
#include "model/workload/architecture_file.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include "model/input/table_reader.hpp"
#include "model/workload/architecture/family.hpp"

namespace floorline {

namespace {

struct Family {
  std::string_view architecture;  ///< architectures[0]
  std::string_view model_type;    ///< where a file has no architectures
  ReadFamily read;
};

constexpr std::array kFamilies{
    Family{"LlamaForCausalLM", "llama", read_llama},
    Family{"MistralForCausalLM", "mistral", read_mistral},
    Family{"Qwen3ForCausalLM", "qwen3", read_qwen3},
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
    if (key == "quantization_config") {
      config.error(key,
                   "quantized checkpoints are not understood yet; remove this key and state "
                   "the storage with --set weight_dtype=fp8_e4m3 or another precision");
    } else if (value.kind == Node::Kind::table && key.ends_with("_config")) {
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

std::string all_known() {
  std::string out;
  for (const Family& family : kFamilies) {
    if (!out.empty()) out += ", ";
    out += family.architecture;
  }
  return out;
}

const Family* family_of(TableReader& config) {
  const std::optional<std::vector<std::string>> named = config.texts("architectures");
  const std::optional<std::string> type = config.text("model_type");
  if (!config.diagnostics().empty()) return nullptr;
  const bool by_name = named && !named->empty();
  if (!by_name && !type) {
    const bool nested = config.has("text_config");
    config.error("architectures",
                 (nested ? std::string("missing beside a text_config") : std::string("missing")) +
                     "; known here: " + all_known());
    return nullptr;
  }
  const auto is_it = [&](const Family& family) {
    return by_name ? family.architecture == named->front() : family.model_type == *type;
  };
  const auto* const found = std::find_if(kFamilies.begin(), kFamilies.end(), is_it);
  if (found == kFamilies.end()) {
    const char* key = by_name ? "architectures" : "model_type";
    config.error(key, quoted(by_name ? named->front() : *type) +
                          " is not an architecture known here; known: " + all_known());
    return nullptr;
  }
  if (by_name && type && *type != found->model_type) {
    config.error("model_type", quoted(*type) + " contradicts architectures; expected \"" +
                                   std::string(found->model_type) + "\"");
  }
  return found;
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
  {
    TableReader reader(config, "", diagnostics);
    const Family* family = family_of(reader);
    if (family == nullptr) {
      reader.ignore_unread();
    } else {
      architecture = family->read(reader);
      judge_the_rest(reader, config, architecture);
    }
  }
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
  for (const Family& family : kFamilies) names.emplace_back(family.architecture);
  return names;
}

}  // namespace floorline
