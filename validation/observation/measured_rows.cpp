// SPDX-License-Identifier: Apache-2.0
#include "validation/observation/measured_rows.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "model/quantity/unit_names.hpp"
#include "validation/observation/row_columns.hpp"

namespace floorline {

namespace {

constexpr std::array<std::string_view, kRowKindCount> kKindNames{"gemm",
                                                                 "attn_context",
                                                                 "attn_decode",
                                                                 "attn_encoder",
                                                                 "nccl",
                                                                 "custom_allreduce",
                                                                 "moe",
                                                                 "mla_context",
                                                                 "mla_decode",
                                                                 "mla_bmm",
                                                                 "quantize_fp8",
                                                                 "vidur_linear",
                                                                 "vidur_elementwise",
                                                                 "vidur_collective",
                                                                 "serving_e2e"};

constexpr std::array<std::string_view, 10> kGemmDtypes{
    "bfloat16", "fp8",     "fp8_block", "fp8_static", "nvfp4",
    "int8_wo",  "int4_wo", "int8_sq",   "int8_w8a8",  "float16"};
constexpr std::array<std::string_view, 6> kMoeDtypes{"bfloat16", "fp8",         "fp8_block",
                                                     "int4_wo",  "w4a16_mxfp4", "w4afp8"};
constexpr std::array<std::string_view, 6> kElementwiseOps{
    "emb", "input_layernorm", "post_attention_layernorm", "attn_rope", "mlp_act", "add"};

constexpr double kLargestCount = 9007199254740992.0;  // 2^53: whole numbers stay exact below it

struct CollectiveName {
  std::string_view name;
  OperatorKind op;
};
// nccl-tests writes alltoall without the underscores.
constexpr std::array<CollectiveName, 4> kNcclOps{{{"all_reduce", OperatorKind::all_reduce},
                                                  {"all_gather", OperatorKind::all_gather},
                                                  {"reduce_scatter", OperatorKind::reduce_scatter},
                                                  {"alltoall", OperatorKind::all_to_all}}};
constexpr std::array<std::string_view, 6> kAllReduceImpls{
    "trtllm", "sglang", "sglang_graph", "sglang_eager", "vllm_graph", "vllm_eager"};
// Bytes are given, so the element type changes nothing; one that is not known is still not judged.
constexpr std::array<std::string_view, 3> kElementTypes{"half", "int8", "bfloat16"};

/// Where `name` stands in a table of names.
std::optional<std::size_t> place_of(std::string_view name,
                                    std::span<const std::string_view> names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return i;
  }
  return std::nullopt;
}

std::optional<OperatorKind> nccl_op(std::string_view name) {
  for (const CollectiveName& known : kNcclOps) {
    if (known.name == name) return known.op;
  }
  return std::nullopt;
}

std::optional<Precision> attention_dtype(std::string_view name) {
  if (name == "bfloat16") return Precision::bf16;
  if (name == "fp8") return Precision::fp8_e4m3;
  return std::nullopt;
}

std::string unknown(std::string_view column, std::string_view value) {
  return std::string(column) + " \"" + shortened(value, 40) + "\" is not known";
}

/// The cells of one row by column name; a cell that is no number is a diagnostic.
class RowReader {
 public:
  RowReader(const CsvTable& table, TableForm form, RowKind kind)
      : table_(table), form_(form), kind_(kind) {
    check_columns(table, form, kind);
  }

  MeasuredRows read() {
    MeasuredRows all;
    all.rows.reserve(table_.row_count());
    for (row_ = 0; row_ < table_.row_count() && !diagnostics_.full(); ++row_) read_row(all);
    diagnostics_.throw_if_any();
    return all;
  }

 private:
  void read_row(MeasuredRows& all) {
    MeasuredRow row;
    row.line = CsvTable::line(row_);
    row.keys.kind = kind();
    row.keys.gpu = text(row.keys.kind == RowKind::vidur_collective ? "node" : "gpu");
    if (row.keys.kind == RowKind::serving_e2e) {
      row.keys.source = text("id");
      for (const bool first_token : {true, false}) {
        row.time =
            milliseconds(time(first_token ? "silicon_ttft_ms" : "silicon_tpot_ms", "milliseconds"));
        row.keys.work = serving(first_token);
        keep(row, all);
      }
      return;
    }
    read_time(row);
    row.keys.work = work(row.keys.kind);
    keep(row, all);
  }

  void read_time(MeasuredRow& row) {
    if (form_ == TableForm::impossible) {
      row.keys.source = text("source");
      row.time = microseconds(time("time_us"));
      return;
    }
    time("median_us");
    if (is_vidur(kind_)) {
      if (kind_ != RowKind::vidur_collective) row.keys.source = text("model");
      row.time = microseconds(time("min_us"));
      return;
    }
    row.keys.source = text("best_src");
    row.time = microseconds(time("best_us"));
    count("n_meas", 1);
  }

  void keep(const MeasuredRow& row, MeasuredRows& all) {
    if (reason_.empty()) {
      all.rows.push_back(row);
    } else {
      all.unread.push_back({row.keys.gpu, reason_, row.line});
    }
    reason_.clear();
  }

  RowKind kind() {
    if (form_ == TableForm::measured) return kind_;
    const std::optional<RowKind> kind = row_kind_from(text("op"));
    if (kind == RowKind::attn_context || kind == RowKind::attn_decode) return *kind;
    not_judged(unknown("op", text("op")));
    return RowKind::attn_decode;
  }

  decltype(RowKeys::work) work(RowKind kind) {
    switch (kind) {
      case RowKind::gemm:
        return gemm();
      case RowKind::attn_context:
      case RowKind::attn_decode:
      case RowKind::attn_encoder:
        return attention(kind);
      case RowKind::nccl:
      case RowKind::custom_allreduce:
        return collective(kind);
      case RowKind::moe:
        return moe();
      case RowKind::mla_context:
      case RowKind::mla_decode:
        return latent(kind);
      case RowKind::mla_bmm:
        return latent_product();
      case RowKind::quantize_fp8:
        return QuantizeKeys{count("m", 1), count("k", 1)};
      case RowKind::vidur_linear:
        return gemm();
      case RowKind::vidur_elementwise:
        return elementwise();
      case RowKind::vidur_collective:
        return vidur_collective();
      case RowKind::serving_e2e:
        break;  // two rows: read_row
    }
    return {};
  }

  GemmKeys gemm() {
    GemmKeys keys;
    const std::optional<std::size_t> dtype = place_of(text("dtype"), kGemmDtypes);
    if (!dtype) not_judged(unknown("dtype", text("dtype")));
    keys.dtype = static_cast<GemmDtype>(dtype.value_or(0));
    const bool half = keys.dtype == GemmDtype::float16;
    if (half != is_vidur(kind_)) not_judged(unknown("dtype", text("dtype")));
    keys.m = count("m", 1);
    keys.n = count("n", 1);
    keys.k = count("k", 1);
    return keys;
  }

  Precision attention_precision(std::string_view column) {
    const std::optional<Precision> precision = attention_dtype(text(column));
    if (!precision) not_judged(unknown(column, text(column)));
    return precision.value_or(Precision::bf16);
  }

  AttentionKeys attention(RowKind kind) {
    const bool encoder = kind == RowKind::attn_encoder;
    AttentionKeys keys;
    keys.attention = attention_precision("attn_dtype");
    keys.kv = encoder ? keys.attention : attention_precision("kv_dtype");
    keys.batch = count("batch", 1);
    const bool both = form_ == TableForm::impossible;
    const bool decode = kind == RowKind::attn_decode;
    keys.q_len = decode && !both ? 1 : count("seq_q", 1);
    keys.kv_len = decode || both ? count("seq_kv", 1) : keys.q_len;
    keys.q_heads = count("heads_q", 1);
    keys.kv_heads = encoder ? keys.q_heads : count("heads_kv", 1);
    keys.head_dim = count("head_dim", 1);
    keys.window = encoder ? 0 : count("window", 0);
    if (decode && keys.q_len != 1) not_judged("a decode step of more than one token");
    if (!decode && keys.q_len != keys.kv_len) not_judged("a prefill with cached tokens");
    // 12 query heads over 8 of keys are judged as written: every head of keys has a reader.
    if (keys.q_heads < keys.kv_heads) not_judged("more heads of keys than of queries");
    return keys;
  }

  CollectiveRowKeys collective(RowKind kind) {
    const bool nccl = kind == RowKind::nccl;
    CollectiveRowKeys keys;
    keys.variant = text(nccl ? "op" : "impl");
    const std::optional<OperatorKind> op = nccl ? nccl_op(keys.variant) : OperatorKind::all_reduce;
    if (!op) not_judged(unknown("op", keys.variant));
    keys.op = op.value_or(OperatorKind::all_reduce);
    if (!nccl && !place_of(keys.variant, kAllReduceImpls))
      not_judged(unknown("impl", keys.variant));
    if (!place_of(text("dtype"), kElementTypes)) not_judged(unknown("dtype", text("dtype")));
    keys.ranks = count("gpus", 1);
    keys.bytes = count("bytes", 1);
    if (keys.ranks > 0 && keys.bytes % keys.ranks != 0) not_judged("bytes is no multiple of gpus");
    return keys;
  }

  MoeKeys moe() {
    MoeKeys keys;
    const std::optional<std::size_t> dtype = place_of(text("dtype"), kMoeDtypes);
    if (!dtype) not_judged(unknown("dtype", text("dtype")));
    keys.dtype = static_cast<MoeDtype>(dtype.value_or(0));
    keys.tokens = count("tokens", 1);
    keys.hidden = count("hidden", 1);
    keys.inter = count("inter", 1);
    keys.top_k = count("topk", 1);
    keys.experts = count("experts", 1);
    keys.tp = count("moe_tp", 1);
    keys.ep = count("moe_ep", 1);
    keys.distribution = text("distribution");
    if (keys.experts % keys.ep != 0) not_judged("experts is no multiple of moe_ep");
    if (keys.inter % keys.tp != 0) not_judged("inter is no multiple of moe_tp");
    if (keys.top_k > keys.experts) not_judged("topk is more than experts");
    return keys;
  }

  LatentKeys latent(RowKind kind) {
    LatentKeys keys;
    keys.kv = attention_precision("kv_dtype");
    keys.batch = count("batch", 1);
    const bool decode = kind == RowKind::mla_decode;
    keys.kv_len = count(decode ? "seq_kv" : "seq_q", 1);
    keys.q_len = decode ? 1 : keys.kv_len;
    keys.heads = count("heads", 1);
    return keys;
  }

  LatentProductKeys latent_product() {
    LatentProductKeys keys;
    const std::string_view op = text("op");
    keys.to_latent = op == "mla_gen_pre";
    if (!keys.to_latent && op != "mla_gen_post") not_judged(unknown("op", op));
    keys.dtype = attention_precision("dtype");
    keys.tokens = count("tokens", 1);
    keys.heads = count("heads", 1);
    return keys;
  }

  void check_float16() {
    if (text("dtype") != "float16") not_judged(unknown("dtype", text("dtype")));
  }

  ElementwiseKeys elementwise() {
    ElementwiseKeys keys;
    keys.op = text("op");
    if (!place_of(keys.op, kElementwiseOps)) not_judged(unknown("op", keys.op));
    check_float16();
    keys.tokens = count("tokens", 1);
    keys.width = count("width", 1);
    const std::int64_t read = count("read_elems", 1);
    const std::int64_t written = count("write_elems", 1);
    keys.reads = read / written;
    if (written != keys.tokens * keys.width || keys.reads * written != read) {
      not_judged("read_elems and write_elems are no whole tensors of tokens x width");
    }
    return keys;
  }

  CollectiveRowKeys vidur_collective() {
    CollectiveRowKeys keys;
    keys.variant = text("op");
    const bool send = keys.variant == "send_recv";
    keys.op = send ? OperatorKind::send_recv : OperatorKind::all_reduce;
    if (!send && keys.variant != "all_reduce") not_judged(unknown("op", keys.variant));
    check_float16();
    keys.ranks = count("gpus", 1);
    keys.bytes = count("bytes", 1);
    keys.per_node = count("gpus_per_node", 1);
    return keys;
  }

  /// Sizes of a part of the engine; one that is 0 or empty was not recorded.
  std::int64_t size(const std::string& name) { return text(name).empty() ? 0 : count(name, 0); }

  ServingKeys serving(bool first_token) {
    ServingKeys keys;
    keys.first_token = first_token;
    keys.model = text("model_path");
    keys.precision = text("precision");
    keys.prompt = count("isl", 1);
    const bool apart = text("mode") == "disagg";
    if (!apart && text("mode") != "agg") not_judged(unknown("mode", text("mode")));
    const std::string part = !apart ? "" : first_token ? "prefill_" : "decode_";
    const auto at_least_one = [](std::int64_t n) { return std::max<std::int64_t>(1, n); };
    keys.tp = at_least_one(size(part + "tp_size"));
    keys.pp = at_least_one(size(part + "pp_size"));
    keys.attention_dp = at_least_one(size(part + "attention_dp_size"));
    keys.moe_tp = at_least_one(size(part + "moe_tp_size"));
    keys.moe_ep = at_least_one(size(part + "moe_ep_size"));
    keys.sequences = sequences(apart, keys.attention_dp);
    return keys;
  }

  /// That decode together, at least; where nothing tells, one.
  std::int64_t sequences(bool apart, std::int64_t attention_dp) {
    const std::int64_t workers = apart ? size("decode_num_workers") : 1;
    const std::int64_t batch = size(apart ? "decode_batch_size" : "batch_size");
    const std::int64_t all = size("concurrency");
    std::int64_t least = batch;
    if (all > 0 && workers > 0) {
      const std::int64_t share = all / (workers * attention_dp);
      least = batch > 0 ? std::min(batch, share) : share;
    }
    return std::max<std::int64_t>(1, least);
  }

  [[nodiscard]] std::string_view text(std::string_view name) const {
    return table_.cell(row_, *table_.column(name));
  }

  std::int64_t count(std::string_view name, std::int64_t least) {
    const std::optional<double> value = parse_number(text(name));
    if (value && std::floor(*value) == *value && *value >= static_cast<double>(least) &&
        *value <= kLargestCount) {
      return static_cast<std::int64_t>(*value);
    }
    refuse(name, "expected a whole number from " + std::to_string(least) + " to 2^53");
    return std::max<std::int64_t>(least, 1);
  }

  double time(std::string_view name, const char* unit = "microseconds") {
    const std::optional<double> value = parse_number(text(name));
    if (value && *value > 0) return *value;
    refuse(name, std::string("expected a time above zero in ") + unit);
    return 1;
  }

  void refuse(std::string_view name, const std::string& expected) {
    const std::size_t column = *table_.column(name);
    diagnostics_.add(table_.position(row_, column), std::string(name),
                     quoted(table_.cell(row_, column)) + " is not one; " + expected);
  }

  void not_judged(std::string reason) {
    if (reason_.empty()) reason_ = std::move(reason);
  }

  const CsvTable& table_;
  TableForm form_;
  RowKind kind_;
  std::size_t row_ = 0;
  std::string reason_;  ///< why this row is not judged; empty: it is
  Diagnostics diagnostics_;
};

}  // namespace

std::string_view name_of(RowKind kind) { return kKindNames[static_cast<std::size_t>(kind)]; }

std::optional<RowKind> row_kind_from(std::string_view name) {
  const std::optional<std::size_t> place = place_of(name, kKindNames);
  if (!place) return std::nullopt;
  return static_cast<RowKind>(*place);
}

std::string_view name_of(GemmDtype dtype) { return kGemmDtypes[static_cast<std::size_t>(dtype)]; }

std::string_view name_of(MoeDtype dtype) { return kMoeDtypes[static_cast<std::size_t>(dtype)]; }

MeasuredRows read_rows(const CsvTable& table, TableForm form, RowKind kind) {
  return RowReader(table, form, kind).read();
}

}  // namespace floorline
