// SPDX-License-Identifier: Apache-2.0
#include "model/workload/operator_kinds.hpp"

#include <array>

#include "model/workload/operator_kind_rows.hpp"

namespace floorline {

namespace {

constexpr std::array<std::string_view, kKeyCount> kKeyNames{"m",        "n",
                                                            "k",        "batch",
                                                            "q_heads",  "kv_heads",
                                                            "q_len",    "kv_len",
                                                            "head_dim", "v_dim",
                                                            "causal",   "window",
                                                            "rows",     "cols",
                                                            "reads",    "writes",
                                                            "flops",    "exps",
                                                            "tokens",   "heads",
                                                            "distinct", "group",
                                                            "bytes",    "written_bytes",
                                                            "count",    "ranks",
                                                            "c",        "h",
                                                            "w",        "r",
                                                            "s",        "stride",
                                                            "pad",      "dilation",
                                                            "groups",   "top_k",
                                                            "experts",  "local_experts",
                                                            "ep",       "hidden",
                                                            "state",    "initial",
                                                            "delta",    "serialized",
                                                            "time",     "inter",
                                                            "tp",       "gated"};
static_assert(kKeyNames[static_cast<std::size_t>(Key::gated)] == "gated");
static_assert(kKeyNames[static_cast<std::size_t>(Key::ranks)] == "ranks");

constexpr const char* kNone = "";

std::vector<KeyInfo> collective_keys(const char* bytes_meaning) {
  return {{Key::bytes, true, kNone, bytes_meaning},
          {Key::ranks, true, kNone, "ranks of the group"}};
}

KindInfo collective(OperatorKind kind, const char* name, const char* summary, const char* meaning,
                    const char* in_bytes, const char* out_bytes) {
  return {kind,
          name,
          summary,
          collective_keys(meaning),
          {{"in", DtypeFlag::bytes, false, {in_bytes}}},
          {{"out", DtypeFlag::bytes, false, {out_bytes}}}};
}

std::vector<KeyInfo> rows_and_cols() {
  return {{Key::rows, true, kNone, "rows"}, {Key::cols, true, kNone, "elements in a row"}};
}

KindInfo row_kind(OperatorKind kind, const char* name, const char* summary,
                  std::vector<TensorTemplate> weights) {
  KindInfo info{kind,
                name,
                summary,
                rows_and_cols(),
                {{"in", DtypeFlag::in, false, {"rows", "cols"}}},
                {{"out", DtypeFlag::out, false, {"rows", "cols"}}}};
  for (TensorTemplate& w : weights) info.inputs.push_back(std::move(w));
  return info;
}

std::vector<KindInfo> arithmetic_kinds() {
  return {
      {OperatorKind::gemm,
       "gemm",
       "matrix product [m,k] x [k,n], batch times",
       {{Key::m, true, kNone, "rows of the result"},
        {Key::n, true, kNone, "columns of the result"},
        {Key::k, true, kNone, "length of the inner products"},
        {Key::batch, false, "1", "independent products"}},
       {{"in", DtypeFlag::in, false, {"batch", "m", "k"}},
        {"weight", DtypeFlag::weight, true, {"batch", "k", "n"}}},
       {{"out", DtypeFlag::out, false, {"batch", "m", "n"}}},
       true},
      {OperatorKind::elementwise,
       "elementwise",
       "n results from n elements of each input",
       {{Key::n, true, kNone, "elements"},
        {Key::reads, false, "1", "input tensors of n elements"},
        {Key::writes, false, "1", "output tensors of n elements"},
        {Key::flops, false, "1", "FLOPs for each of the n elements"},
        {Key::exps, false, "0", "exponentials for each of the n elements"},
        {Key::stride, false, "1", "distance of the elements of each input, in elements"},
        {Key::distinct, false, kNone, "distinct elements of each input, with access=random"}},
       {{"in", DtypeFlag::in, false, {"reads", "n"}}},
       {{"out", DtypeFlag::out, false, {"writes", "n"}}}},
      {OperatorKind::reduce,
       "reduce",
       "each row to one number",
       rows_and_cols(),
       {{"in", DtypeFlag::in, false, {"rows", "cols"}}},
       {{"out", DtypeFlag::out, false, {"rows"}}}},
      row_kind(OperatorKind::softmax, "softmax", "softmax over each row", {}),
      row_kind(OperatorKind::layernorm, "layernorm", "layer normalization over each row",
               {{"scale", DtypeFlag::weight, true, {"cols"}},
                {"shift", DtypeFlag::weight, true, {"cols"}}}),
      row_kind(OperatorKind::rmsnorm, "rmsnorm", "root-mean-square normalization over each row",
               {{"scale", DtypeFlag::weight, true, {"cols"}}}),
      {OperatorKind::rope,
       "rope",
       "rotary position embedding",
       {{Key::tokens, true, kNone, "tokens"},
        {Key::heads, true, kNone, "heads, query and key together"},
        {Key::head_dim, true, kNone, "elements of a head"}},
       {{"in", DtypeFlag::in, false, {"tokens", "heads", "head_dim"}}},
       {{"out", DtypeFlag::out, false, {"tokens", "heads", "head_dim"}}}},
      {OperatorKind::attention,
       "attention",
       "softmax(Q K^T) V, fused, or naive as its parts",
       {{Key::batch, true, kNone, "sequences"},
        {Key::q_heads, true, kNone, "query heads"},
        {Key::kv_heads, true, kNone, "key and value heads"},
        {Key::q_len, true, kNone, "new tokens of a sequence"},
        {Key::kv_len, true, kNone, "keys of a sequence, the new ones included"},
        {Key::head_dim, true, kNone, "elements of a query and key head"},
        {Key::v_dim, false, "head_dim", "elements of a value head"},
        {Key::causal, false, "1", "1: a query sees no later key; 0: all"},
        {Key::window, false, "0", "keys that a query sees, itself included; 0: all"}},
       {{"q", DtypeFlag::in, false, {"batch", "q_len", "q_heads", "head_dim"}},
        {"k", DtypeFlag::kv, false, {"batch", "kv_len", "kv_heads", "head_dim"}},
        {"v", DtypeFlag::kv, false, {"batch", "kv_len", "kv_heads", "v_dim"}}},
       {{"out", DtypeFlag::out, false, {"batch", "q_len", "q_heads", "v_dim"}}},
       true},
  };
}

std::vector<KindInfo> movement_kinds() {
  return {
      {OperatorKind::embedding,
       "embedding",
       "one table row for each token",
       {{Key::tokens, true, kNone, "tokens"},
        {Key::rows, true, kNone, "rows of the table"},
        {Key::cols, true, kNone, "elements of a row"},
        {Key::distinct, false, "1", "distinct rows read; 1 is the least any data could cause"}},
       {{"ids", DtypeFlag::ids, false, {"tokens"}},
        {"table", DtypeFlag::weight, true, {"rows", "cols"}}},
       {{"out", DtypeFlag::out, false, {"tokens", "cols"}}}},
      row_kind(OperatorKind::transpose, "transpose", "rows to columns", {}),
      {OperatorKind::copy,
       "copy",
       "bytes from host to device, back, or on the device (path=h2d|d2h|d2d)",
       {{Key::bytes, true, kNone, "bytes of one copy"}, {Key::count, false, "1", "copies"}},
       {{"in", DtypeFlag::bytes, false, {"bytes*count"}}},
       {{"out", DtypeFlag::bytes, false, {"bytes*count"}}}},
      row_kind(OperatorKind::quantize, "quantize", "to a narrower format", {}),
      row_kind(OperatorKind::dequantize, "dequantize", "to a wider format", {}),
      collective(OperatorKind::all_reduce, "all_reduce", "sum over ranks, to all ranks",
                 "bytes of the message", "bytes", "bytes"),
      collective(OperatorKind::all_gather, "all_gather", "every rank's part, to all ranks",
                 "bytes of the whole output", "ceil(bytes/ranks)", "bytes"),
      collective(OperatorKind::reduce_scatter, "reduce_scatter", "sum over ranks, a part to each",
                 "bytes of the whole input", "bytes", "ceil(bytes/ranks)"),
      collective(OperatorKind::all_to_all, "all_to_all", "a part from each rank to each rank",
                 "bytes of one rank's buffer", "bytes", "bytes"),
      collective(OperatorKind::broadcast, "broadcast", "one rank's buffer to all ranks",
                 "bytes of the message", "bytes", "bytes"),
      {OperatorKind::send_recv,
       "send_recv",
       "one rank's buffer to the next rank",
       {{Key::bytes, true, kNone, "bytes of the message"},
        {Key::ranks, false, "2", "ranks of the chain"}},
       {{"in", DtypeFlag::bytes, false, {"bytes"}}},
       {{"out", DtypeFlag::bytes, false, {"bytes"}}}},
      {OperatorKind::custom,
       "custom",
       "F and D as stated",
       {{Key::flops, true, kNone, "FLOPs"},
        {Key::bytes, true, kNone, "bytes read from HBM"},
        {Key::written_bytes, false, "0", "bytes written to HBM"},
        {Key::serialized, false, "0", "transactions to one address that reach L2"}},
       {{"in", DtypeFlag::bytes, false, {"bytes"}}},
       {{"out", DtypeFlag::bytes, false, {"written_bytes"}}},
       true},
  };
}

std::vector<KindInfo> host_kinds() {
  return {{OperatorKind::host,
           "host",
           "work of the host that takes a stated time",
           {{Key::time, true, kNone, "time it takes, with its unit"}},
           {},
           {}}};
}

std::vector<KindInfo> fused_kinds() {
  return {{OperatorKind::fused,
           "fused",
           "operators that one kernel does (parts of a graph file; floorline fuse makes them)",
           {},
           {},
           {}}};
}

std::vector<KindInfo> all_kinds() {
  std::vector<KindInfo> all = arithmetic_kinds();
  for (auto* part : {movement_kinds, access_kinds, routed_kinds, recurrent_kinds, host_kinds,
                     training_kinds, fused_kinds}) {
    for (KindInfo& kind : part()) all.push_back(std::move(kind));
  }
  return all;
}

}  // namespace

std::string_view name_of(Key key) { return kKeyNames[static_cast<std::size_t>(key)]; }

std::optional<Key> key_from(std::string_view name) {
  for (int i = 0; i < kKeyCount; ++i) {
    if (kKeyNames[static_cast<std::size_t>(i)] == name) return static_cast<Key>(i);
  }
  return std::nullopt;
}

std::string_view name_of(CopyPath path) {
  switch (path) {
    case CopyPath::h2d:
      return "h2d";
    case CopyPath::d2h:
      return "d2h";
    case CopyPath::d2d:
      return "d2d";
  }
  return "";
}

bool has_access(OperatorKind kind) {
  return kind == OperatorKind::elementwise || kind == OperatorKind::gather ||
         kind == OperatorKind::scatter;
}

std::string access_from(std::string_view word, bool has_stride, Access& access) {
  if (word == "random") {
    access = Access::random;
    return {};
  }
  if (word == "strided") return has_stride ? "" : "strided needs the key stride";
  if (word == "contiguous") return has_stride ? "contiguous has no stride" : "";
  return "\"" + std::string(word) + "\" is not one; expected contiguous, strided or random";
}

std::string_view name_of(ConvAlgorithm algorithm) {
  switch (algorithm) {
    case ConvAlgorithm::any:
      return "any";
    case ConvAlgorithm::direct:
      return "direct";
    case ConvAlgorithm::winograd:
      return "winograd";
  }
  return "";
}

std::optional<ConvAlgorithm> conv_algorithm_from(std::string_view name) {
  for (const ConvAlgorithm a :
       {ConvAlgorithm::any, ConvAlgorithm::direct, ConvAlgorithm::winograd}) {
    if (name == name_of(a)) return a;
  }
  return std::nullopt;
}

std::span<const KindInfo> operator_kinds() {
  static const std::vector<KindInfo> all = all_kinds();
  return all;
}

const KindInfo& moe_shorthand() {
  static const KindInfo kMoe = moe_keys();
  return kMoe;
}

const KindInfo& info(OperatorKind kind) { return operator_kinds()[static_cast<std::size_t>(kind)]; }

std::optional<OperatorKind> operator_kind_from(std::string_view name) {
  for (const KindInfo& kind : operator_kinds()) {
    if (name == kind.name) return kind.kind;
  }
  return std::nullopt;
}

std::vector<std::string> operator_kind_names() {
  std::vector<std::string> names;
  for (const KindInfo& kind : operator_kinds()) names.emplace_back(kind.name);
  return names;
}

}  // namespace floorline
