// SPDX-License-Identifier: Apache-2.0
#include "validation/observation/measured_rows.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "model/quantity/unit_names.hpp"

namespace floorline {

namespace {

using Names = std::vector<std::string>;

constexpr std::array<std::string_view, kRowKindCount> kKindNames{
    "gemm", "attn_context", "attn_decode", "attn_encoder", "nccl", "custom_allreduce"};

constexpr std::array<std::string_view, 9> kGemmDtypes{"bfloat16",   "fp8",     "fp8_block",
                                                      "fp8_static", "nvfp4",   "int8_wo",
                                                      "int4_wo",    "int8_sq", "int8_w8a8"};

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

Names key_columns(RowKind kind) {
  switch (kind) {
    case RowKind::gemm:
      return {"gpu", "dtype", "m", "n", "k"};
    case RowKind::attn_context:
      return {"gpu",     "attn_dtype", "kv_dtype", "batch", "seq_q",
              "heads_q", "heads_kv",   "head_dim", "window"};
    case RowKind::attn_decode:
      return {"gpu",     "attn_dtype", "kv_dtype", "batch", "seq_kv",
              "heads_q", "heads_kv",   "head_dim", "window"};
    case RowKind::attn_encoder:
      return {"gpu", "attn_dtype", "batch", "seq_q", "heads_q", "head_dim"};
    case RowKind::nccl:
      return {"gpu", "op", "dtype", "gpus", "bytes"};
    case RowKind::custom_allreduce:
      return {"gpu", "impl", "dtype", "gpus", "bytes"};
  }
  return {};
}

Names columns_of(TableForm form, RowKind kind) {
  if (form == TableForm::impossible) {
    return {"op",     "gpu",     "source",   "attn_dtype", "kv_dtype", "batch",   "seq_q",
            "seq_kv", "heads_q", "heads_kv", "head_dim",   "window",   "time_us", "warm_bound_us"};
  }
  Names names = key_columns(kind);
  for (const char* name : {"best_us", "median_us", "n_meas", "best_src"}) names.emplace_back(name);
  return names;
}

void check_columns(const CsvTable& table, const Names& expected) {
  Diagnostics diagnostics;
  for (const std::string& name : expected) {
    if (table.column(name)) continue;
    diagnostics.add(table.header_position(), name, "missing; expected this column");
  }
  for (const std::string& name : table.names()) {
    if (std::find(expected.begin(), expected.end(), name) != expected.end()) continue;
    diagnostics.add(table.header_position(), name,
                    "is not a column of this table" + did_you_mean(name, expected));
  }
  diagnostics.throw_if_any();
}

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
    check_columns(table, columns_of(form, kind));
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
    reason_.clear();
    MeasuredRow row;
    row.line = CsvTable::line(row_);
    row.keys.kind = kind();
    row.keys.gpu = text("gpu");
    const bool measured = form_ == TableForm::measured;
    row.keys.source = text(measured ? "best_src" : "source");
    row.time = microseconds(time(measured ? "best_us" : "time_us"));
    if (measured) time("median_us");
    if (measured) count("n_meas", 1);
    row.keys.work = work(row.keys.kind);
    if (reason_.empty()) {
      all.rows.push_back(row);
    } else {
      all.unread.push_back({row.keys.gpu, reason_, row.line});
    }
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
    }
    return {};
  }

  GemmKeys gemm() {
    GemmKeys keys;
    const std::optional<std::size_t> dtype = place_of(text("dtype"), kGemmDtypes);
    if (!dtype) not_judged(unknown("dtype", text("dtype")));
    keys.dtype = static_cast<GemmDtype>(dtype.value_or(0));
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

  CollectiveKeys collective(RowKind kind) {
    const bool nccl = kind == RowKind::nccl;
    CollectiveKeys keys;
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

  double time(std::string_view name) {
    const std::optional<double> value = parse_number(text(name));
    if (value && *value > 0) return *value;
    refuse(name, "expected a time above zero in microseconds");
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

std::string number(std::int64_t value) { return std::to_string(value); }

struct Describe {
  RowKind kind;
  std::string operator()(const GemmKeys& keys) const {
    return std::string(name_of(keys.dtype)) + " m=" + number(keys.m) + " n=" + number(keys.n) +
           " k=" + number(keys.k);
  }
  std::string operator()(const AttentionKeys& keys) const {
    const std::int64_t length = kind == RowKind::attn_decode ? keys.kv_len : keys.q_len;
    return std::string(name_of(keys.attention)) + "/" + std::string(name_of(keys.kv)) + " " +
           number(keys.batch) + "x" + number(length) + " heads " + number(keys.q_heads) + "/" +
           number(keys.kv_heads) + " dim " + number(keys.head_dim) +
           (keys.window > 0 ? " window " + number(keys.window) : "");
  }
  std::string operator()(const CollectiveKeys& keys) const {
    return std::string(keys.variant) + " gpus=" + number(keys.ranks) +
           " bytes=" + number(keys.bytes);
  }
};

}  // namespace

std::string_view name_of(RowKind kind) { return kKindNames[static_cast<std::size_t>(kind)]; }

std::optional<RowKind> row_kind_from(std::string_view name) {
  const std::optional<std::size_t> place = place_of(name, kKindNames);
  if (!place) return std::nullopt;
  return static_cast<RowKind>(*place);
}

std::string_view name_of(GemmDtype dtype) { return kGemmDtypes[static_cast<std::size_t>(dtype)]; }

std::string describe(const RowKeys& keys) {
  return std::string(name_of(keys.kind)) + " " + std::visit(Describe{keys.kind}, keys.work);
}

std::string variant_of(const RowKeys& keys) {
  if (const auto* gemm = std::get_if<GemmKeys>(&keys.work))
    return std::string(name_of(gemm->dtype));
  if (const auto* attention = std::get_if<AttentionKeys>(&keys.work)) {
    return std::string(name_of(attention->attention)) + "/" + std::string(name_of(attention->kv));
  }
  return std::string(std::get<CollectiveKeys>(keys.work).variant);
}

MeasuredRows read_rows(const CsvTable& table, TableForm form, RowKind kind) {
  return RowReader(table, form, kind).read();
}

}  // namespace floorline
