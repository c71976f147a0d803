// SPDX-License-Identifier: Apache-2.0
// Methods and what they imply (storage; scales; compute):
//   fp8            fp8_e4m3; fp32 a matrix or a block of weight_block_size; fp8_e4m3
//   fbgemm_fp8     fp8_e4m3; fp32 a row; fp8_e4m3
//   gptq, awq      int4 or int8; fp16 a group of a row, and zero points as wide as the weights
//                  (4 + 16/128 + 4/128 = 4.15625 bits at 128); the wider operand
//   mxfp4          mxfp4; none besides (e8m0 a 32 elements is in the 4.25 bits); the wider operand
//   modelopt       NVFP4: nvfp4 (e4m3 a 16 elements is in the 4.5 bits) and an fp32; nvfp4.
//                  FP8: fp8_e4m3; an fp32 a matrix; fp8_e4m3
//   compressed-tensors  as config_groups says; activations that are quantized too give compute
// Only products with quantized activations compute narrow; 4-bit weights alone are made wide first.
#include "model/workload/architecture/quantization.hpp"

#include <algorithm>
#include <utility>

#include "model/input/table_reader.hpp"
#include "model/workload/architecture/dense.hpp"

namespace floorline {

namespace {

constexpr std::int64_t kMostGroup = std::int64_t{1} << 20U;

std::string text(std::int64_t number) { return std::to_string(number); }

std::string describe(const WeightFormat& f) {
  std::string out(name_of(f.storage));
  switch (f.scale_of) {
    case ScaleOf::none:
      break;
    case ScaleOf::tensor:
      out += ", one scale a matrix";
      break;
    case ScaleOf::channel:
      out += ", a scale a row";
      break;
    case ScaleOf::block:
      out += ", a scale for " + text(f.scale_rows) + " x " + text(f.scale_cols);
      break;
    case ScaleOf::group:
      out += ", a scale for " + text(f.scale_cols) + " of a row";
      break;
  }
  if (f.zero != Precision::none) out += " and zero points";
  return out;
}

/// Lists of modules under any of the names that writers use.
void read_kept(TableReader& q, Quantization& quantization) {
  for (const char* key :
       {"modules_to_not_convert", "ignored_layers", "ignore", "exclude_modules"}) {
    const auto names = q.texts(key);
    if (!names) continue;
    constexpr std::size_t kMost = 100000;
    if (names->size() > kMost) q.error(key, "more than 100000 entries");
    for (const std::string& name : *names) {
      std::string wrong;
      ModulePattern pattern(name, wrong);
      if (!wrong.empty()) q.error(key, wrong);
      if (quantization.kept.size() < kMost) quantization.kept.push_back(std::move(pattern));
    }
  }
  constexpr std::ptrdiff_t kMostAnywhere = 500;
  const auto anywhere = std::count_if(quantization.kept.begin(), quantization.kept.end(),
                                      [](const ModulePattern& p) { return p.layer() < 0; });
  if (anywhere > kMostAnywhere) {
    q.error("ignore", "more than 500 entries that name no layer; expected fewer");
    quantization.kept.clear();
  }
}

std::optional<std::pair<std::int64_t, std::int64_t>> read_block(TableReader& q, const char* key) {
  const Node* block = q.node(key);
  if (block == nullptr || block->kind == Node::Kind::null) return std::nullopt;
  const auto is_size = [](const Node& n) {
    return n.kind == Node::Kind::integer && n.integer >= 1 && n.integer <= kMostGroup;
  };
  if (block->items.size() != 2 || !is_size(block->items[0]) || !is_size(block->items[1])) {
    q.error(key, "expected two numbers from 1 up, rows and columns");
    return std::nullopt;
  }
  return std::pair{block->items[0].integer, block->items[1].integer};
}

void read_fp8(TableReader& q, WeightFormat& f) {
  const std::string fmt = q.text("fmt").value_or("e4m3");
  f.storage = fmt.find("e5m2") != std::string::npos ? Precision::fp8_e5m2 : Precision::fp8_e4m3;
  f.compute = f.storage;
  f.scale_of = ScaleOf::tensor;
  if (const auto block = read_block(q, "weight_block_size")) {
    f.scale_of = ScaleOf::block;
    f.scale_rows = block->first;
    f.scale_cols = block->second;
  }
  f.input_scale = q.text("activation_scheme").value_or("dynamic") == "static";
  q.node("scale_fmt");
}

/// GPTQ and AWQ: integers in groups of a row, 16-bit scales, zero points.
void read_grouped_integers(TableReader& q, WeightFormat& f, bool gptq) {
  const std::optional<std::int64_t> bits = q.count(q.has("bits") ? "bits" : "w_bit", 1);
  const char* size_key = q.has("group_size") ? "group_size" : "q_group_size";
  if (bits && *bits != 4 && *bits != 8) {
    q.error(q.has("bits") ? "bits" : "w_bit",
            text(*bits) + "-bit weights are not understood yet; expected 4 or 8");
  }
  f.storage = bits && *bits == 8 ? Precision::int8 : Precision::int4;
  f.scale = Precision::fp16;
  f.scale_of = ScaleOf::channel;
  const Node* size = q.node(size_key);
  if (size != nullptr && size->kind == Node::Kind::integer && size->integer > 0) {
    f.scale_of = ScaleOf::group;
    f.scale_cols = std::min(size->integer, kMostGroup);
  }
  f.zero = gptq || q.flag("zero_point").value_or(true) ? f.storage : Precision::none;
  f.order = gptq && q.flag("desc_act").value_or(false);
  for (const char* key : {"dynamic", "modules_in_block_to_quantize"}) {
    const Node* node = q.node(key);
    if (node == nullptr || (node->items.empty() && node->members.empty())) continue;
    q.error(key, "is not understood yet; expected the same format for all matrices");
  }
  pass_over(q, {"sym",
                "zero_point",
                "desc_act",
                "version",
                "damp_percent",
                "static_groups",
                "true_sequential",
                "checkpoint_format",
                "backend",
                "do_fuse",
                "meta",
                "model_name_or_path",
                "model_file_base_name",
                "use_exllama",
                "exllama_config",
                "disable_exllama",
                "is_marlin_format",
                "dataset",
                "tokenizer",
                "batch_size",
                "use_cuda_fp16",
                "model_seqlen",
                "module_name_preceding_first_block",
                "block_name_to_quantize",
                "cache_block_outputs",
                "max_input_length",
                "fuse_max_seq_len",
                "modules_to_fuse"});
}

Precision number_format(TableReader& table) {
  const std::int64_t bits = table.count("num_bits", 1).value_or(0);
  const bool real = table.text("type").value_or("int") == "float";
  if (bits == 8) return real ? Precision::fp8_e4m3 : Precision::int8;
  if (bits == 4) return real ? Precision::fp4 : Precision::int4;
  table.error("num_bits", text(bits) + "-bit " + (real ? "floats" : "integers") +
                              " are not understood yet; expected 4 or 8");
  return Precision::none;
}

void read_strategy(TableReader& weights, WeightFormat& f) {
  const std::string strategy = weights.text("strategy").value_or("tensor");
  const std::int64_t group = read_size_or(weights, "group_size", kMostGroup, 0);
  if (strategy == "tensor") f.scale_of = ScaleOf::tensor;
  if (strategy == "channel") f.scale_of = ScaleOf::channel;
  if (strategy == "group" || strategy == "tensor_group") {
    f.scale_of = ScaleOf::group;
    f.scale_cols = std::max<std::int64_t>(1, group);
  }
  if (strategy == "block") {
    const auto block = read_block(weights, "block_structure");
    f.scale_of = ScaleOf::block;
    f.scale_rows = block ? block->first : 1;
    f.scale_cols = block ? block->second : 1;
  }
  if (f.storage == Precision::fp4 && f.scale_cols == 16) {
    f.storage = Precision::nvfp4;  // its scales are in the 4.5 bits
    f.tensor_scale = true;
    f.scale_of = ScaleOf::none;
  } else if (f.storage == Precision::fp4 && f.scale_cols == 32) {
    f.storage = Precision::mxfp4;
    f.scale_of = ScaleOf::none;
  }
  f.scale = storage_bits(f.storage) < 8 || f.storage == Precision::int8 ? Precision::bf16
                                                                        : Precision::fp32;
  const bool symmetric = weights.flag("symmetric").value_or(true);
  if (!symmetric) f.zero = f.storage;
  weights.ignore_unread();
}

/// The wider of both, where activations are quantized too.
Precision compute_of(Precision weight, Precision activation) {
  if (activation == Precision::none) return Precision::none;
  if (activation == Precision::fp4) return weight;
  return storage_bits(activation) >= storage_bits(weight) ? activation : weight;
}

void read_group(TableReader& group, WeightFormat& f) {
  const Node* weights = group.required_node("weights", "a table with num_bits and type");
  if (weights != nullptr) {
    TableReader table(*weights, group.path_of("weights"), group.diagnostics());
    f.storage = number_format(table);
    read_strategy(table, f);
  }
  const Node* inputs = group.node("input_activations");
  if (inputs != nullptr && inputs->kind == Node::Kind::table) {
    TableReader table(*inputs, group.path_of("input_activations"), group.diagnostics());
    f.compute = compute_of(f.storage, number_format(table));
    const Node* dynamic = table.node("dynamic");
    f.input_scale = dynamic != nullptr && (dynamic->kind == Node::Kind::text || !dynamic->boolean);
    table.ignore_unread();
  }
  const auto targets = group.texts("targets");
  for (const std::string& target : targets.value_or(std::vector<std::string>{})) {
    if (target == "Linear") continue;
    group.error("targets", "only \"Linear\" is understood yet");
    break;
  }
  group.ignore_unread();
}

void read_kv_scheme(TableReader& q, Quantization& quantization) {
  const Node* scheme = q.node("kv_cache_scheme");
  if (scheme == nullptr || scheme->kind != Node::Kind::table) return;
  TableReader table(*scheme, q.path_of("kv_cache_scheme"), q.diagnostics());
  quantization.kv_dtype = number_format(table);
  table.ignore_unread();
}

void read_compressed(TableReader& q, Quantization& quantization) {
  const Node* groups = q.required_node("config_groups", "a table of groups");
  quantization.head = true;
  if (groups != nullptr && groups->members.size() == 1) {
    const NodeMember& only = groups->members.front();
    TableReader group(only.value, q.path_of("config_groups") + "." + only.key, q.diagnostics());
    read_group(group, quantization.format);
  } else if (groups != nullptr) {
    q.error("config_groups", "several groups of formats are not understood yet; expected one");
  }
  const Node* sparsity = q.node("sparsity_config");
  if (sparsity != nullptr && !sparsity->members.empty()) {
    const Node* format = sparsity->find("format");
    if (format == nullptr || format->text != "dense") {
      q.error("sparsity_config", "sparse checkpoints are not understood yet; expected dense");
    }
  }
  read_kv_scheme(q, quantization);
  pass_over(q, {"format", "quantization_status", "global_compression_ratio", "version",
                "transform_config"});
}

void read_modelopt(TableReader& q, Quantization& quantization) {
  const std::string algorithm = q.text("quant_algo").value_or("");
  WeightFormat& f = quantization.format;
  if (algorithm == "NVFP4") {
    f.storage = f.compute = Precision::nvfp4;
    f.tensor_scale = f.input_scale = true;
  } else if (algorithm == "FP8") {
    f.storage = f.compute = Precision::fp8_e4m3;
    f.scale_of = ScaleOf::tensor;
    f.input_scale = true;
  } else {
    q.error("quant_algo",
            "\"" + algorithm.substr(0, 40) + "\" is not understood yet; expected NVFP4 or FP8");
  }
  if (q.text("kv_cache_quant_algo").value_or("") == "FP8") {
    quantization.kv_dtype = Precision::fp8_e4m3;
  }
  read_kv_scheme(q, quantization);
  pass_over(q, {"config_groups", "producer", "group_size", "format"});
}

/// False after an error.
bool read_method(TableReader& q, Quantization& quantization) {
  const std::string method = q.required_text("quant_method");
  WeightFormat& f = quantization.format;
  if (method == "fp8") {
    read_fp8(q, f);
  } else if (method == "fbgemm_fp8") {
    f.storage = f.compute = Precision::fp8_e4m3;
    f.scale_of = ScaleOf::channel;
    q.node("activation_scale_ub");
  } else if (method == "gptq" || method == "awq") {
    read_grouped_integers(q, f, method == "gptq");
    quantization.head = q.flag("lm_head").value_or(false);
  } else if (method == "mxfp4") {
    f.storage = Precision::mxfp4;
  } else if (method == "compressed-tensors") {
    read_compressed(q, quantization);
  } else if (method == "modelopt" || method == "modelopt_fp4") {
    read_modelopt(q, quantization);
  } else if (!method.empty()) {
    q.error("quant_method", "\"" + method.substr(0, 40) +
                                "\" is not understood yet; expected fp8, fbgemm_fp8, gptq, awq, "
                                "mxfp4, modelopt or compressed-tensors");
    return false;
  }
  return f.storage != Precision::none;
}

}  // namespace

void read_quantization(TableReader& config, Architecture& architecture) {
  const char* key =
      config.has("quantization_config") ? "quantization_config" : "compression_config";
  const Node* node = config.node(key);
  if (node == nullptr || node->kind == Node::Kind::null) return;
  Quantization quantization;
  TableReader q(*node, config.path_of(key), config.diagnostics());
  const bool known = read_method(q, quantization);
  read_kept(q, quantization);
  for (const std::string& rest : q.unread_keys()) {
    quantization.assumptions.push_back("the quantization's key \"" + rest.substr(0, 60) +
                                       "\" is not known and not used");
  }
  q.ignore_unread();
  if (!known || !config.diagnostics().empty()) return;
  quantization.format.text = describe(quantization.format);
  quantization.assumptions.push_back("quantized matrices of layers: " + quantization.format.text +
                                     "; routers, norms and what the configuration leaves out: " +
                                     std::string(name_of(architecture.dtype)));
  apply_quantization(quantization, architecture);
}

}  // namespace floorline
