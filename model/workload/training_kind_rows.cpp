// SPDX-License-Identifier: Apache-2.0
#include "model/workload/operator_kind_rows.hpp"

namespace floorline {

namespace {

constexpr const char* kNone = "";

KindInfo attention_backward_kind() {
  const std::vector<const char*> q{"batch", "q_len", "q_heads", "head_dim"};
  const std::vector<const char*> k{"batch", "kv_len", "kv_heads", "head_dim"};
  const std::vector<const char*> v{"batch", "kv_len", "kv_heads", "v_dim"};
  const std::vector<const char*> o{"batch", "q_len", "q_heads", "v_dim"};
  return {OperatorKind::attention_backward,
          "attention_backward",
          "gradients of Q, K and V; scores kept or computed again",
          {{Key::batch, true, kNone, "sequences"},
           {Key::q_heads, true, kNone, "query heads"},
           {Key::kv_heads, true, kNone, "key and value heads"},
           {Key::q_len, true, kNone, "queries of a sequence"},
           {Key::kv_len, true, kNone, "keys of a sequence"},
           {Key::head_dim, true, kNone, "elements of a query and key head"},
           {Key::v_dim, false, "head_dim", "elements of a value head"},
           {Key::causal, false, "1", "1: a query sees no later key; 0: all"},
           {Key::window, false, "0", "keys that a query sees, itself included; 0: all"}},
          {{"q", DtypeFlag::in, false, q},
           {"k", DtypeFlag::kv, false, k},
           {"v", DtypeFlag::kv, false, v},
           {"o", DtypeFlag::in, false, o},
           {"do", DtypeFlag::in, false, o}},
          {{"dq", DtypeFlag::out, false, q},
           {"dk", DtypeFlag::out, false, k},
           {"dv", DtypeFlag::out, false, v}},
          true};
}

}  // namespace

std::vector<KindInfo> training_kinds() {
  const std::vector<const char*> table{"rows", "cols"};
  const std::vector<KeyInfo> rows_and_cols{{Key::rows, true, kNone, "rows"},
                                           {Key::cols, true, kNone, "elements in a row"}};
  return {
      attention_backward_kind(),
      {OperatorKind::norm_backward,
       "norm_backward",
       "gradients of a norm's input and scale",
       rows_and_cols,
       {{"dy", DtypeFlag::in, false, table},
        {"x", DtypeFlag::in, false, table},
        {"scale", DtypeFlag::weight, true, {"cols"}}},
       {{"dx", DtypeFlag::out, false, table}, {"dscale", DtypeFlag::out, false, {"cols"}}}},
      {OperatorKind::cross_entropy,
       "cross_entropy",
       "loss and gradient of the logits",
       rows_and_cols,
       {{"logits", DtypeFlag::in, false, table}, {"labels", DtypeFlag::ids, false, {"rows"}}},
       {{"gradient", DtypeFlag::out, false, table}}},
      {OperatorKind::optimizer,
       "optimizer",
       "gradients, master weights and moments (kv) to new ones",
       {{Key::n, true, kNone, "parameters"},
        {Key::reads, false, "3", "tensors of state: AdamW's master weights and two moments"},
        {Key::flops, false, "12", "FLOPs for each parameter"}},
       {{"gradient", DtypeFlag::in, false, {"n"}}, {"state", DtypeFlag::kv, false, {"reads", "n"}}},
       {{"new_state", DtypeFlag::kv, false, {"reads", "n"}},
        {"new_weight", DtypeFlag::out, false, {"n"}}}},
  };
}

}  // namespace floorline
