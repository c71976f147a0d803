// SPDX-License-Identifier: Apache-2.0
// Rows in words, for listings and groups.
#include "validation/observation/measured_rows.hpp"

namespace floorline {

namespace {

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
  std::string operator()(const CollectiveRowKeys& keys) const {
    return std::string(keys.variant) + " gpus=" + number(keys.ranks) +
           (keys.per_node > 0 ? " of " + number(keys.per_node) + " a node" : "") +
           " bytes=" + number(keys.bytes);
  }
  std::string operator()(const MoeKeys& keys) const {
    return std::string(name_of(keys.dtype)) + " " + number(keys.tokens) + " tokens " +
           number(keys.hidden) + "/" + number(keys.inter) + " top " + number(keys.top_k) + " of " +
           number(keys.experts) + " tp=" + number(keys.tp) + " ep=" + number(keys.ep) + " " +
           std::string(keys.distribution);
  }
  std::string operator()(const LatentKeys& keys) const {
    return std::string(name_of(keys.kv)) + " " + number(keys.batch) + "x" + number(keys.kv_len) +
           " heads " + number(keys.heads);
  }
  std::string operator()(const LatentProductKeys& keys) const {
    return std::string(keys.to_latent ? "pre " : "post ") + std::string(name_of(keys.dtype)) + " " +
           number(keys.tokens) + " tokens heads " + number(keys.heads);
  }
  std::string operator()(const QuantizeKeys& keys) const {
    return number(keys.m) + "x" + number(keys.k);
  }
  std::string operator()(const ElementwiseKeys& keys) const {
    return std::string(keys.op) + " " + number(keys.tokens) + "x" + number(keys.width) + " reads " +
           number(keys.reads);
  }
  std::string operator()(const ServingKeys& keys) const {
    const std::string step = keys.first_token ? "ttft" : "tpot";
    return step + " " + std::string(keys.model) + " " + std::string(keys.precision) + " prompt " +
           number(keys.prompt) + " sequences " + number(keys.sequences) + " tp=" + number(keys.tp) +
           " pp=" + number(keys.pp) + " attention_dp=" + number(keys.attention_dp) +
           " moe_tp=" + number(keys.moe_tp) + " moe_ep=" + number(keys.moe_ep);
  }
};

struct Variant {
  std::string operator()(const GemmKeys& keys) const { return std::string(name_of(keys.dtype)); }
  std::string operator()(const AttentionKeys& keys) const {
    return std::string(name_of(keys.attention)) + "/" + std::string(name_of(keys.kv));
  }
  std::string operator()(const CollectiveRowKeys& keys) const { return std::string(keys.variant); }
  std::string operator()(const MoeKeys& keys) const {
    return std::string(name_of(keys.dtype)) + (keys.balanced() ? "/balanced" : "/power_law");
  }
  std::string operator()(const LatentKeys& keys) const { return std::string(name_of(keys.kv)); }
  std::string operator()(const LatentProductKeys& keys) const {
    return std::string(name_of(keys.dtype));
  }
  std::string operator()(const QuantizeKeys&) const { return "bf16"; }
  std::string operator()(const ElementwiseKeys& keys) const { return std::string(keys.op); }
  std::string operator()(const ServingKeys& keys) const {
    return keys.first_token ? "ttft" : "tpot";
  }
};

}  // namespace

std::string describe(const RowKeys& keys) {
  return std::string(name_of(keys.kind)) + " " + std::visit(Describe{keys.kind}, keys.work);
}

std::string variant_of(const RowKeys& keys) { return std::visit(Variant{}, keys.work); }

}  // namespace floorline
