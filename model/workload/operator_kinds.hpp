// SPDX-License-Identifier: Apache-2.0
// What operator kinds there are, which keys each takes and which tensors it has. A table: `--op`,
// graph files and `--help` read it; the demand of a kind is one function in model/demand.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace floorline {

enum class OperatorKind : std::uint8_t {
  gemm,
  elementwise,
  reduce,
  softmax,
  layernorm,
  rmsnorm,
  rope,
  attention,
  embedding,
  transpose,
  copy,
  quantize,
  dequantize,
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  broadcast,
  send_recv,
  custom,
  conv,
  scan,
  gather,
  scatter,
  grouped_gemm,
  dispatch,
  combine,
  ssm_scan,
  linear_attention,
  host,
  attention_backward,
  norm_backward,
  cross_entropy,
  optimizer,
  fused,
};
inline constexpr int kOperatorKindCount = 35;

/// Numeric keys of operators, in --op and in graph files.
enum class Key : std::uint8_t {
  m,
  n,
  k,
  batch,
  q_heads,
  kv_heads,
  q_len,
  kv_len,
  head_dim,
  v_dim,
  causal,
  window,
  rows,
  cols,
  reads,
  writes,
  flops,
  exps,
  tokens,
  heads,
  distinct,
  group,
  bytes,
  written_bytes,
  count,
  ranks,
  c,
  h,
  w,
  r,
  s,
  stride,
  pad,
  dilation,
  groups,
  top_k,
  experts,
  local_experts,
  ep,
  hidden,
  state,
  initial,
  delta,
  serialized,
  time,
  inter,  // these three are keys of --op moe only
  tp,
  gated,
};
inline constexpr int kKeyCount = 48;
std::string_view name_of(Key key);
std::optional<Key> key_from(std::string_view name);

enum class CopyPath : std::uint8_t { h2d, d2h, d2d };
std::string_view name_of(CopyPath path);

/// What the data may decide of an access to an operator's first tensor (of gather and scatter: the
/// table). `regular` is one element or row every `stride`.
enum class Access : std::uint8_t { regular, random };
/// True for the kinds that take `access`.
bool has_access(OperatorKind kind);
/// contiguous, strided (with the key `stride`), random. Returns what is wrong, or "".
std::string access_from(std::string_view word, bool has_stride, Access& access);

/// A convolution's floor on compute holds for one algorithm; `any` counts as direct and says so.
enum class ConvAlgorithm : std::uint8_t { any, direct, winograd };
std::string_view name_of(ConvAlgorithm algorithm);
std::optional<ConvAlgorithm> conv_algorithm_from(std::string_view name);

/// Which dtype flag of --op gives a tensor its storage precision.
enum class DtypeFlag : std::uint8_t { in, weight, out, kv, bytes, ids };

struct KeyInfo {
  Key key;
  bool required;  ///< in --op; in graph files the tensors may say it instead
  /// Default in --op, as an expression of earlier keys; "" is none: a key that is optional and has
  /// none is absent unless given.
  const char* fallback;
  const char* meaning;
};

struct TensorTemplate {
  const char* name;
  DtypeFlag dtype;
  bool weight;                     ///< role weight, else input or output
  std::vector<const char*> shape;  ///< expressions of the keys
};

struct KindInfo {
  OperatorKind kind;
  const char* name;
  const char* summary;
  std::vector<KeyInfo> keys;
  std::vector<TensorTemplate> inputs;
  std::vector<TensorTemplate> outputs;
  /// True for kinds whose arithmetic is a matrix product: `compute` defaults to the widest input.
  bool matrix = false;
};

const KindInfo& info(OperatorKind kind);
std::span<const KindInfo> operator_kinds();
/// --op moe: several operators under one name (model/workload/op_expansion).
const KindInfo& moe_shorthand();
std::optional<OperatorKind> operator_kind_from(std::string_view name);
std::vector<std::string> operator_kind_names();
inline std::string_view name_of(OperatorKind kind) { return info(kind).name; }

}  // namespace floorline
