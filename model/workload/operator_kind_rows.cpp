// SPDX-License-Identifier: Apache-2.0
#include "model/workload/operator_kind_rows.hpp"

namespace floorline {

namespace {

constexpr const char* kNone = "";
constexpr const char* kConvRows = "floor((h+2*pad-dilation*(r-1)-1)/stride)+1";
constexpr const char* kConvCols = "floor((w+2*pad-dilation*(s-1)-1)/stride)+1";

/// Rows of the busiest expert-parallel rank, and the tokens they come from, at least.
constexpr const char* kRankRows = "ceil(tokens*top_k/ep)";
constexpr const char* kRankTokens = "ceil(ceil(tokens*top_k/ep)/min(top_k,experts/ep))";

KindInfo conv_kind() {
  return {OperatorKind::conv,
          "conv",
          "2-D convolution of n images (algorithm=direct|winograd|any)",
          {{Key::n, true, kNone, "images"},
           {Key::c, true, kNone, "input channels"},
           {Key::h, true, kNone, "input rows"},
           {Key::w, true, kNone, "input columns"},
           {Key::k, true, kNone, "output channels"},
           {Key::r, true, kNone, "rows of the filter"},
           {Key::s, true, kNone, "columns of the filter"},
           {Key::stride, false, "1", "step of the filter"},
           {Key::pad, false, "0", "zeros on each side"},
           {Key::dilation, false, "1", "distance of the filter's taps"},
           {Key::groups, false, "1", "groups of channels; depthwise: c"}},
          {{"in", DtypeFlag::in, false, {"n", "c", "h", "w"}},
           {"weight", DtypeFlag::weight, true, {"k", "c/groups", "r", "s"}}},
          {{"out", DtypeFlag::out, false, {"n", "k", kConvRows, kConvCols}}},
          true};
}

KindInfo scan_kind() {
  return {OperatorKind::scan,
          "scan",
          "running sums of each row",
          {{Key::rows, true, kNone, "rows"}, {Key::cols, true, kNone, "elements in a row"}},
          {{"in", DtypeFlag::in, false, {"rows", "cols"}}},
          {{"out", DtypeFlag::out, false, {"rows", "cols"}}}};
}

std::vector<KeyInfo> table_keys() {
  return {{Key::rows, true, kNone, "rows of the table"},
          {Key::cols, true, kNone, "elements of a row"},
          {Key::count, true, kNone, "indices"},
          {Key::distinct, false, "1", "distinct rows; 1 is the least any data could cause"},
          {Key::stride, false, "1", "distance of the distinct rows, in rows"}};
}

/// Keys of what a router decides: tokens of the whole group of ep ranks.
std::vector<KeyInfo> routing_keys(const char* distinct) {
  return {{Key::tokens, true, kNone, "tokens of all ranks of the group"},
          {Key::top_k, true, kNone, "experts of a token"},
          {Key::experts, true, kNone, "experts of all ranks"},
          {Key::ep, false, "1", "expert-parallel ranks"},
          {Key::distinct, false, kNone, distinct}};
}

KindInfo exchange_kind(OperatorKind kind, const char* name, const char* summary,
                       TensorTemplate input, TensorTemplate output) {
  KindInfo info{kind,
                name,
                summary,
                routing_keys("other ranks that hold experts of a token, on average"),
                {std::move(input)},
                {std::move(output)}};
  info.keys.push_back({Key::hidden, true, kNone, "elements of a token"});
  return info;
}

}  // namespace

std::vector<KindInfo> access_kinds() {
  return {
      conv_kind(),
      scan_kind(),
      {OperatorKind::gather,
       "gather",
       "one table row for each index",
       table_keys(),
       {{"ids", DtypeFlag::ids, false, {"count"}},
        {"table", DtypeFlag::in, false, {"rows", "cols"}}},
       {{"out", DtypeFlag::out, false, {"count", "cols"}}}},
      {OperatorKind::scatter,
       "scatter",
       "a row to a table row for each index; flops=1 adds",
       [] {
         std::vector<KeyInfo> keys = table_keys();
         keys.push_back({Key::flops, false, "0", "FLOPs for each element: 1 adds to the table"});
         return keys;
       }(),
       {{"ids", DtypeFlag::ids, false, {"count"}}, {"in", DtypeFlag::in, false, {"count", "cols"}}},
       {{"table", DtypeFlag::out, false, {"rows", "cols"}}}},
  };
}

std::vector<KindInfo> routed_kinds() {
  KindInfo product{OperatorKind::grouped_gemm,
                   "grouped_gemm",
                   "each row times the weight of its expert",
                   routing_keys("distinct experts of this rank that are used"),
                   {{"in", DtypeFlag::in, false, {"rows", "k"}},
                    {"weight", DtypeFlag::weight, true, {"local_experts", "k", "n"}}},
                   {{"out", DtypeFlag::out, false, {"rows", "n"}}},
                   true};
  product.keys.push_back({Key::n, true, kNone, "columns of the result"});
  product.keys.push_back({Key::k, true, kNone, "length of the inner products"});
  product.keys.push_back({Key::local_experts, false, "experts/ep", "experts of this rank"});
  product.keys.push_back({Key::rows, false, kRankRows, "rows of this rank"});
  return {
      std::move(product),
      exchange_kind(OperatorKind::dispatch, "dispatch", "tokens to the ranks of their experts",
                    {"in", DtypeFlag::in, false, {"ceil(tokens/ep)", "hidden"}},
                    {"out", DtypeFlag::out, false, {kRankTokens, "hidden"}}),
      exchange_kind(OperatorKind::combine, "combine",
                    "weighted sum of the experts' rows, sent back",
                    {"in", DtypeFlag::in, false, {kRankRows, "hidden"}},
                    {"out", DtypeFlag::out, false, {"ceil(tokens/ep)", "hidden"}}),
  };
}

KindInfo moe_keys() {
  KindInfo moe{OperatorKind::grouped_gemm,
               "moe",
               "mixture of experts: router, dispatch, grouped products, activation, combine",
               routing_keys("distinct experts of this rank that are used"),
               {{"in", DtypeFlag::in, false, {}}, {"weight", DtypeFlag::weight, true, {}}},
               {{"out", DtypeFlag::out, false, {}}},
               true};
  moe.keys.push_back({Key::hidden, true, kNone, "elements of a token"});
  moe.keys.push_back({Key::inter, true, kNone, "elements between an expert's two products"});
  moe.keys.push_back({Key::tp, false, "1", "ranks that share each expert"});
  moe.keys.push_back({Key::gated, false, "1", "1: gate and up products; 0: up alone"});
  return moe;
}

std::vector<KindInfo> recurrent_kinds() {
  return {
      {OperatorKind::ssm_scan,
       "ssm_scan",
       "state-space scan (Mamba-2): h = a h + B x, y = C h",
       {{Key::batch, true, kNone, "sequences"},
        {Key::q_len, true, kNone, "new tokens of a sequence"},
        {Key::heads, true, kNone, "heads"},
        {Key::head_dim, true, kNone, "elements of a head"},
        {Key::state, true, kNone, "state elements for each element of a head"},
        {Key::groups, false, "1", "groups of heads that share B and C"},
        {Key::initial, false, "1", "1: sequences continue from a state; 0: they start from zero"}},
       {{"x", DtypeFlag::in, false, {"batch", "q_len", "heads", "head_dim"}},
        {"b", DtypeFlag::in, false, {"batch", "q_len", "groups", "state"}},
        {"c", DtypeFlag::in, false, {"batch", "q_len", "groups", "state"}},
        {"dt", DtypeFlag::in, false, {"batch", "q_len", "heads"}},
        {"state", DtypeFlag::kv, false, {"initial*batch", "heads", "head_dim", "state"}}},
       {{"out", DtypeFlag::out, false, {"batch", "q_len", "heads", "head_dim"}},
        {"new_state", DtypeFlag::kv, false, {"batch", "heads", "head_dim", "state"}}}},
      {OperatorKind::linear_attention,
       "linear_attention",
       "gated delta rule, or plain linear attention (delta=0)",
       {{Key::batch, true, kNone, "sequences"},
        {Key::q_len, true, kNone, "new tokens of a sequence"},
        {Key::heads, true, kNone, "value heads, each with a state"},
        {Key::head_dim, true, kNone, "elements of a query and key head"},
        {Key::v_dim, false, "head_dim", "elements of a value head"},
        {Key::q_heads, false, "heads", "query and key heads"},
        {Key::delta, false, "1", "1: delta rule; 0: the state only decays and adds"},
        {Key::initial, false, "1", "1: sequences continue from a state; 0: they start from zero"}},
       {{"q", DtypeFlag::in, false, {"batch", "q_len", "q_heads", "head_dim"}},
        {"k", DtypeFlag::in, false, {"batch", "q_len", "q_heads", "head_dim"}},
        {"v", DtypeFlag::in, false, {"batch", "q_len", "heads", "v_dim"}},
        {"state", DtypeFlag::kv, false, {"initial*batch", "heads", "head_dim", "v_dim"}}},
       {{"out", DtypeFlag::out, false, {"batch", "q_len", "heads", "v_dim"}},
        {"new_state", DtypeFlag::kv, false, {"batch", "heads", "head_dim", "v_dim"}}}},
  };
}

}  // namespace floorline
