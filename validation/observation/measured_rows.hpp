// SPDX-License-Identifier: Apache-2.0
// Rows of measured kernels, typed. What a row is *of* (RowKeys: key and source columns) and what
// was measured (times) are apart, so that whoever decides how to read a row cannot see its time.
// Columns: validation/README.md. A dtype or operation that is not named here is never guessed: the
// row is not judged, and says why.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/quantity/precision.hpp"
#include "model/quantity/quantity.hpp"
#include "model/workload/operator_kinds.hpp"
#include "validation/observation/csv_table.hpp"

namespace floorline {

/// As the files are named: gemm.csv, attn_context.csv…
enum class RowKind : std::uint8_t {
  gemm,
  attn_context,  ///< prefill from empty, causal
  attn_decode,   ///< one new token a sequence
  attn_encoder,  ///< every query sees every key
  nccl,
  custom_allreduce,
  moe,           ///< experts' products on one rank
  mla_context,   ///< latent attention, prefill from empty
  mla_decode,    ///< the same, one new token a sequence
  mla_bmm,       ///< its products with kv_b, a product a head
  quantize_fp8,  ///< bf16 to fp8
  vidur_linear,
  vidur_elementwise,
  vidur_collective,
  serving_e2e,  ///< one engine run: two rows, the first token and each token after it
};
inline constexpr int kRowKindCount = 15;
std::string_view name_of(RowKind kind);
std::optional<RowKind> row_kind_from(std::string_view name);

/// Which rows a table holds, beside those of one kind.
enum class TableForm : std::uint8_t {
  measured,    ///< best_us, median_us, n_meas, best_src; Vidur's and serving have their own
  impossible,  ///< impossible_attention.csv: op, gpu, source … time_us
};

/// What a collector calls a matrix product's precision.
enum class GemmDtype : std::uint8_t {
  bfloat16,
  fp8,         ///< x enters as bf16, its quantization is inside the time
  fp8_block,   ///< the same with block scales
  fp8_static,  ///< the scale of x is given
  nvfp4,
  int8_wo,  ///< weight only
  int4_wo,
  int8_sq,  ///< SmoothQuant
  int8_w8a8,
  float16,
};
std::string_view name_of(GemmDtype dtype);

/// What a collector calls the precision of a mixture of experts.
enum class MoeDtype : std::uint8_t { bfloat16, fp8, fp8_block, int4_wo, w4a16_mxfp4, w4afp8 };
std::string_view name_of(MoeDtype dtype);

struct GemmKeys {
  GemmDtype dtype = GemmDtype::bfloat16;
  std::int64_t m = 1, n = 1, k = 1;
};

struct AttentionKeys {
  Precision attention = Precision::bf16;
  Precision kv = Precision::bf16;
  std::int64_t batch = 1, q_len = 1, kv_len = 1;
  std::int64_t q_heads = 1, kv_heads = 1, head_dim = 1;
  std::int64_t window = 0;  ///< 0: none
};

struct CollectiveRowKeys {
  OperatorKind op = OperatorKind::all_reduce;
  std::string_view variant;  ///< nccl: op and custom_allreduce: impl, as written
  std::int64_t ranks = 1, bytes = 1;
  std::int64_t per_node = 0;  ///< ranks of a node; 0: all
  [[nodiscard]] bool crosses_nodes() const { return per_node > 0 && ranks > per_node; }
};

/// Tokens of all ranks; one rank holds experts / ep of the experts and 1 / tp of each.
struct MoeKeys {
  MoeDtype dtype = MoeDtype::bfloat16;
  std::int64_t tokens = 1, hidden = 1, inter = 1;
  std::int64_t top_k = 1, experts = 1, tp = 1, ep = 1;
  std::string_view distribution;
  [[nodiscard]] bool balanced() const { return distribution == "balanced"; }
};

/// DeepSeek's latent attention: 512 + 64 elements a cached token; heads of this rank.
struct LatentKeys {
  Precision kv = Precision::bf16;
  std::int64_t batch = 1, q_len = 1, kv_len = 1, heads = 1;
};

/// A product a head: [tokens,128] x [128,512], or back from 512 to 128.
struct LatentProductKeys {
  bool to_latent = true;  ///< mla_gen_pre
  Precision dtype = Precision::bf16;
  std::int64_t tokens = 1, heads = 1;
};

struct QuantizeKeys {
  std::int64_t m = 1, k = 1;
};

/// `reads` tensors of `elements`, one of them written.
struct ElementwiseKeys {
  std::string_view op;
  std::int64_t tokens = 1, width = 1, reads = 1;
  [[nodiscard]] bool is_table() const { return op == "emb"; }
};

/// One step of a model that an engine serves. Zero or empty: not recorded.
struct ServingKeys {
  bool first_token = false;  ///< a prefill, timed as TTFT; else a decode step, timed as TPOT
  std::string_view model, precision;
  std::int64_t prompt = 1;
  std::int64_t sequences = 1;  ///< of one replica that decodes
  std::int64_t tp = 1, pp = 1, attention_dp = 1, moe_tp = 1, moe_ep = 1;
};

struct RowKeys {
  RowKind kind = RowKind::gemm;
  std::string_view gpu;     ///< views into the table
  std::string_view source;  ///< backend/version
  std::variant<GemmKeys, AttentionKeys, CollectiveRowKeys, MoeKeys, LatentKeys, LatentProductKeys,
               QuantizeKeys, ElementwiseKeys, ServingKeys>
      work;
};
/// "gemm int8_sq m=8192 n=128 k=65536"
std::string describe(const RowKeys& keys);
/// What tightness is also told apart by: dtype, kv_dtype, op, impl, ttft or tpot.
std::string variant_of(const RowKeys& keys);

struct MeasuredRow {
  RowKeys keys;
  Seconds time{0};  ///< best_us, time_us, min_us, silicon_ttft_ms or silicon_tpot_ms
  std::uint32_t line = 0;
};

struct UnreadRow {
  std::string_view gpu;
  std::string reason;
  std::uint32_t line = 0;
};

struct MeasuredRows {
  std::vector<MeasuredRow> rows;
  std::vector<UnreadRow> unread;
};

/// Throws InputError: a column that is missing or not known, a cell that is no number.
/// Of an `impossible` table `kind` is not used. The rows hold views into `table`.
MeasuredRows read_rows(const CsvTable& table, TableForm form, RowKind kind);

}  // namespace floorline
