// SPDX-License-Identifier: Apache-2.0
#include "validation/observation/row_columns.hpp"

#include <algorithm>

namespace floorline {

namespace {

using Names = std::vector<std::string>;

Names serving_columns() {
  Names names{"id",         "concurrency", "backend",         "backend_version",
              "model_path", "gpu",         "precision",       "mode",
              "isl",        "osl",         "gemm_quant_mode", "moe_quant_mode",
              "batch_size"};
  for (const std::string part : {"", "prefill_", "decode_"}) {
    if (!part.empty()) names.push_back(part + "batch_size");
    if (!part.empty()) names.push_back(part + "num_workers");
    for (const char* size :
         {"tp_size", "pp_size", "attention_dp_size", "moe_tp_size", "moe_ep_size"}) {
      names.push_back(part + size);
    }
  }
  names.emplace_back("silicon_ttft_ms");
  names.emplace_back("silicon_tpot_ms");
  return names;
}

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
    case RowKind::moe:
      return {"gpu",  "dtype",   "tokens", "hidden", "inter",
              "topk", "experts", "moe_tp", "moe_ep", "distribution"};
    case RowKind::mla_context:
      return {"gpu", "kv_dtype", "batch", "seq_q", "heads"};
    case RowKind::mla_decode:
      return {"gpu", "kv_dtype", "batch", "seq_kv", "heads"};
    case RowKind::mla_bmm:
      return {"gpu", "op", "dtype", "tokens", "heads"};
    case RowKind::quantize_fp8:
      return {"gpu", "m", "k"};
    case RowKind::vidur_linear:
      return {"gpu", "model", "op", "tp", "dtype", "m", "n", "k"};
    case RowKind::vidur_elementwise:
      return {"gpu", "model", "op", "tp", "dtype", "tokens", "width", "read_elems", "write_elems"};
    case RowKind::vidur_collective:
      return {"node", "op", "gpus", "gpus_per_node", "dtype", "bytes"};
    case RowKind::serving_e2e:
      return serving_columns();
  }
  return {};
}

Names time_columns(RowKind kind) {
  if (kind == RowKind::serving_e2e) return {};  // among the keys
  if (is_vidur(kind)) return {"min_us", "median_us", "mean_us", "max_us", "std_us"};
  return {"best_us", "median_us", "n_meas", "best_src"};
}

Names columns_of(TableForm form, RowKind kind) {
  if (form == TableForm::impossible) {
    return {"op",     "gpu",     "source",   "attn_dtype", "kv_dtype", "batch",   "seq_q",
            "seq_kv", "heads_q", "heads_kv", "head_dim",   "window",   "time_us", "warm_bound_us"};
  }
  Names names = key_columns(kind);
  for (const std::string& name : time_columns(kind)) names.push_back(name);
  return names;
}

}  // namespace

bool is_vidur(RowKind kind) {
  return kind == RowKind::vidur_linear || kind == RowKind::vidur_elementwise ||
         kind == RowKind::vidur_collective;
}

void check_columns(const CsvTable& table, TableForm form, RowKind kind) {
  const Names expected = columns_of(form, kind);
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

}  // namespace floorline
