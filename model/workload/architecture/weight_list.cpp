// SPDX-License-Identifier: Apache-2.0
// Weights of one layer, h = hidden, d = head_dim, q and kv heads, f = intermediate, rows first:
//   attention   q_proj [q·d, h] (twice as many rows with an output gate), k_proj, v_proj [kv·d, h],
//               o_proj [h, q·d]; q_norm, k_norm [d] or [q·d], [kv·d]; sinks [q]
//   latent      q_a_proj [r_q, h], q_b_proj [q(n+r), r_q], kv_a_proj_with_mqa [r_kv+r, h],
//               kv_b_proj [q(n+v), r_kv], o_proj [h, q·v]; norms of both low ranks (arXiv
//               2405.04434, §2.1). Indexer (DeepSeek-V3.2): wq_b [i·d_i, r_q], wk [d_i, h],
//               weights_proj [i, h], k_norm with shift [d_i]
//   mamba2      in_proj: z and x [2·e, h], B and C [2·g·s, h], dt [heads, h]; conv1d [e + 2·g·s,
//               taps] and bias; A_log, D, dt_bias [heads]; norm [e]; out_proj [h, e]; e = heads·d
//               (Dao & Gu 2024, arXiv 2405.21060)
//   delta net   q and k [2·k_heads·d_k, h], v and z [2·e, h], a and b [2·heads, h], conv1d [2·
//               k_heads·d_k + e, taps]; A_log, dt_bias [heads]; norm [d_v]; out_proj [h, e]
//               (Yang et al. 2024, arXiv 2412.06464; transformers, Qwen3NextGatedDeltaNet)
//   feed-forward gate_proj, up_proj [f, h], down_proj [h, f]; not gated: no gate_proj
//   experts     router gate [E, h]; E times the same with the experts' f; shared experts once
// Parts that tensor parallelism divides by different heads are listed apart (in_proj, conv1d).
// Sharding as Megatron-LM (Shoeybi et al. 2019): outputs of the first product by columns, inputs of
// the last by rows; norms, routers, low ranks and indexer are on every rank.
#include "model/workload/architecture/weight_list.hpp"

#include <utility>

namespace floorline {

namespace {

constexpr Sharding kAll = Sharding::replicated;

void add_norm(const std::string& name, std::int64_t size, NormKind norm, WeightList& list) {
  list.add(name + ".weight", {size, 1}, kAll);
  if (norm == NormKind::layernorm) list.add(name + ".bias", {size, 1}, kAll);
}

void add_query_key_norms(const AttentionShape& a, WeightList& list) {
  if (a.qk_norm == QkNorm::head) {
    list.add("self_attn.q_norm.weight", {a.head_dim, 1}, kAll);
    list.add("self_attn.k_norm.weight", {a.head_dim, 1}, kAll);
  } else if (a.qk_norm == QkNorm::row) {
    list.add("self_attn.q_norm.weight", {a.q_heads * a.head_dim, 1}, Sharding::column, a.head_dim);
    list.add("self_attn.k_norm.weight", {a.kv_heads * a.head_dim, 1}, Sharding::kv_heads,
             a.head_dim);
  }
}

void add_attention(std::int64_t h, const AttentionShape& a, WeightList& list) {
  const std::int64_t gates = a.output_gate ? 2 : 1;
  list.add_projection("self_attn.q_proj", {a.q_heads * a.head_dim * gates, h}, Sharding::column,
                      a.head_dim * gates, a.qkv_bias);
  list.add_projection("self_attn.k_proj", {a.kv_heads * a.head_dim, h}, Sharding::kv_heads,
                      a.head_dim, a.qkv_bias);
  if (!a.k_is_v) {
    list.add_projection("self_attn.v_proj", {a.kv_heads * a.v_dim, h}, Sharding::kv_heads, a.v_dim,
                        a.qkv_bias);
  }
  add_query_key_norms(a, list);
  if (a.sinks) list.add("self_attn.sinks", {a.q_heads, 1}, Sharding::column);
  list.add_projection("self_attn.o_proj", {h, a.q_heads * a.v_dim}, Sharding::row, a.v_dim,
                      a.o_bias);
}

void add_indexer(std::int64_t h, const LatentShape& l, WeightList& list) {
  list.add("self_attn.indexer.wq_b.weight", {l.index_heads * l.index_dim, l.q_rank}, kAll);
  list.add("self_attn.indexer.wk.weight", {l.index_dim, h}, kAll);
  add_norm("self_attn.indexer.k_norm", l.index_dim, NormKind::layernorm, list);
  list.add("self_attn.indexer.weights_proj.weight", {l.index_heads, h}, kAll);
}

void add_latent_attention(std::int64_t h, const LayerGroup& layer, WeightList& list) {
  const LatentShape& l = layer.latent;
  const std::int64_t heads = layer.attention.q_heads;
  const std::int64_t query = l.nope_dim + l.rope_dim;
  if (l.q_rank > 0) {
    list.add("self_attn.q_a_proj.weight", {l.q_rank, h}, kAll);
    list.add("self_attn.q_a_layernorm.weight", {l.q_rank, 1}, kAll);
    list.add("self_attn.q_b_proj.weight", {heads * query, l.q_rank}, Sharding::column, query);
  } else {
    list.add("self_attn.q_proj.weight", {heads * query, h}, Sharding::column, query);
  }
  list.add("self_attn.kv_a_proj_with_mqa.weight", {l.kv_rank + l.rope_dim, h}, kAll);
  list.add("self_attn.kv_a_layernorm.weight", {l.kv_rank, 1}, kAll);
  list.add("self_attn.kv_b_proj.weight", {heads * (l.nope_dim + l.v_dim), l.kv_rank},
           Sharding::column, l.nope_dim + l.v_dim);
  list.add("self_attn.o_proj.weight", {h, heads * l.v_dim}, Sharding::row, l.v_dim);
  if (l.index_heads > 0) add_indexer(h, l, list);
}

void add_mamba2(std::int64_t h, const StateShape& s, WeightList& list) {
  const std::int64_t inner = s.heads * s.value_dim;
  const std::int64_t keys = s.key_heads * s.key_dim;
  list.add("mixer.in_proj.zx.weight", {2 * inner, h}, Sharding::column, 2 * s.value_dim);
  list.add("mixer.in_proj.bc.weight", {2 * keys, h}, Sharding::kv_heads, 2 * s.key_dim);
  list.add("mixer.in_proj.dt.weight", {s.heads, h}, Sharding::column);
  list.add("mixer.conv1d.x.weight", {inner, s.conv_width}, Sharding::column, s.value_dim);
  list.add("mixer.conv1d.bc.weight", {2 * keys, s.conv_width}, Sharding::kv_heads, 2 * s.key_dim);
  list.add("mixer.conv1d.x.bias", {inner, 1}, Sharding::column, s.value_dim);
  list.add("mixer.conv1d.bc.bias", {2 * keys, 1}, Sharding::kv_heads, 2 * s.key_dim);
  for (const char* name : {"mixer.A_log", "mixer.D", "mixer.dt_bias"}) {
    list.add(name, {s.heads, 1}, Sharding::column);
  }
  list.add("mixer.norm.weight", {inner, 1}, Sharding::column, s.value_dim);
  list.add("mixer.out_proj.weight", {h, inner}, Sharding::row, s.value_dim);
}

void add_gated_delta_net(std::int64_t h, const StateShape& s, WeightList& list) {
  const std::int64_t inner = s.heads * s.value_dim;
  const std::int64_t keys = s.key_heads * s.key_dim;
  list.add("linear_attn.in_proj_qk.weight", {2 * keys, h}, Sharding::kv_heads, 2 * s.key_dim);
  list.add("linear_attn.in_proj_vz.weight", {2 * inner, h}, Sharding::column, 2 * s.value_dim);
  list.add("linear_attn.in_proj_ba.weight", {2 * s.heads, h}, Sharding::column, 2);
  list.add("linear_attn.conv1d.qk.weight", {2 * keys, s.conv_width}, Sharding::kv_heads,
           2 * s.key_dim);
  list.add("linear_attn.conv1d.v.weight", {inner, s.conv_width}, Sharding::column, s.value_dim);
  list.add("linear_attn.dt_bias", {s.heads, 1}, Sharding::column);
  list.add("linear_attn.A_log", {s.heads, 1}, Sharding::column);
  list.add("linear_attn.norm.weight", {s.value_dim, 1}, kAll);
  list.add("linear_attn.out_proj.weight", {h, inner}, Sharding::row, s.value_dim);
}

void add_mlp(const std::string& prefix, std::int64_t h, const MlpShape& m, WeightList& list) {
  if (m.gated) {
    list.add_projection(prefix + "gate_proj", {m.intermediate, h}, Sharding::column, 1, m.bias);
  }
  list.add_projection(prefix + "up_proj", {m.intermediate, h}, Sharding::column, 1, m.bias);
  list.add_projection(prefix + "down_proj", {h, m.intermediate}, Sharding::row, 1, m.bias);
}

void add_experts(std::int64_t h, const ExpertShape& e, WeightList& list) {
  list.add("mlp.gate.weight", {e.experts, h}, kAll);
  if (e.router_bias) list.add("mlp.gate.bias", {e.experts, 1}, kAll);
  if (e.score_bias) {
    list.add("mlp.gate.e_score_correction_bias", {e.experts, 1}, kAll).storage = Precision::fp32;
  }
  if (e.gated) {
    list.add_expert("mlp.experts.gate_proj", {e.intermediate, h}, Sharding::column, e);
  }
  list.add_expert("mlp.experts.up_proj", {e.intermediate, h}, Sharding::column, e);
  list.add_expert("mlp.experts.down_proj", {h, e.intermediate}, Sharding::row, e);
  if (e.shared_intermediate > 0) {
    add_mlp("mlp.shared_experts.", h,
            {.intermediate = e.shared_intermediate, .gated = e.gated, .activation = e.activation},
            list);
  }
  if (e.shared_gate) list.add("mlp.shared_expert_gate.weight", {1, h}, kAll);
}

void add_mixer(std::int64_t h, const LayerGroup& layer, WeightList& list) {
  switch (layer.mixer) {
    case Mixer::attention:
      return add_attention(h, layer.attention, list);
    case Mixer::latent_attention:
      return add_latent_attention(h, layer, list);
    case Mixer::mamba2:
      return add_mamba2(h, layer.state, list);
    case Mixer::gated_delta_net:
      return add_gated_delta_net(h, layer.state, list);
    case Mixer::none:
      return;
  }
}

}  // namespace

NamedWeight& WeightList::add(const std::string& name, WeightShape shape, Sharding sharding,
                             std::int64_t unit) {
  NamedWeight weight;
  weight.name = prefix_ + name;
  weight.group = group_;
  weight.rows = shape.rows;
  weight.cols = shape.cols;
  weight.count = weight.active = count_;
  weight.storage = architecture_.dtype;
  weight.sharding = sharding;
  weight.unit = unit;
  weight.draft = draft_;
  architecture_.weights.push_back(std::move(weight));
  return architecture_.weights.back();
}

void WeightList::add_projection(const std::string& name, WeightShape shape, Sharding sharding,
                                std::int64_t unit, bool bias) {
  add(name + ".weight", shape, sharding, unit);
  if (!bias) return;
  const bool summed = sharding == Sharding::row;
  add(name + ".bias", {shape.rows, 1}, summed ? kAll : sharding, summed ? 1 : unit);
}

void WeightList::add_expert(const std::string& name, WeightShape shape, Sharding sharding,
                            const ExpertShape& experts) {
  const auto many = [&](NamedWeight& weight) {
    weight.experts = experts.experts;
    weight.count = count_ * experts.experts;
    weight.active = count_ * experts.top_k;
  };
  many(add(name + ".weight", shape, sharding));
  if (!experts.bias) return;
  const bool summed = sharding == Sharding::row;
  many(add(name + ".bias", {shape.rows, 1}, summed ? kAll : sharding));
}

void add_layer_weights(std::int64_t hidden, const LayerGroup& layer, WeightList& list) {
  const bool both = layer.mixer != Mixer::none && layer.feed_forward != FeedForward::none;
  add_norm("input_layernorm", hidden, layer.norm, list);
  add_mixer(hidden, layer, list);
  if (both) add_norm("post_attention_layernorm", hidden, layer.norm, list);
  if (layer.sandwich_norms) {
    add_norm("pre_feedforward_layernorm", hidden, layer.norm, list);
    add_norm("post_feedforward_layernorm", hidden, layer.norm, list);
  }
  const FeedForward f = layer.feed_forward;
  if (f == FeedForward::dense_and_experts) {
    for (const char* name : {"post_feedforward_layernorm_1", "pre_feedforward_layernorm_2",
                             "post_feedforward_layernorm_2", "router.scale"}) {
      list.add(std::string(name) + ".weight", {hidden, 1}, kAll);
    }
    list.add("router.per_expert_scale", {layer.experts.experts, 1}, kAll);
    list.add("layer_scalar", {1, 1}, kAll);
  }
  if (f == FeedForward::dense || f == FeedForward::dense_and_experts) {
    add_mlp("mlp.", hidden, layer.mlp, list);
  }
  if (f == FeedForward::experts || f == FeedForward::dense_and_experts) {
    add_experts(hidden, layer.experts, list);
  }
}

void add_weights(Architecture& a) {
  WeightList list(a);
  list.in_group(-1, 1, "");
  list.add("embed_tokens.weight", {a.vocab, a.hidden}, Sharding::vocab);
  for (std::size_t g = 0; g < a.layers.size(); ++g) {
    list.in_group(static_cast<int>(g), a.layers[g].count, "layers.");
    add_layer_weights(a.hidden, a.layers[g], list);
  }
  list.in_group(-1, 1, "");
  add_norm("norm", a.hidden, a.layers.empty() ? NormKind::rmsnorm : a.layers[0].norm, list);
  if (!a.tied_embeddings) list.add("lm_head.weight", {a.vocab, a.hidden}, Sharding::vocab);
}

void add_draft_weights(Architecture& a, const LayerGroup& layer, std::int64_t count) {
  if (count <= 0) return;
  WeightList list(a);
  list.as_draft(true);
  list.in_group(-1, count, "mtp.");
  add_layer_weights(a.hidden, layer, list);
  list.add("enorm.weight", {a.hidden, 1}, kAll);
  list.add("hnorm.weight", {a.hidden, 1}, kAll);
  list.add("eh_proj.weight", {a.hidden, 2 * a.hidden}, kAll);
  list.add("norm.weight", {a.hidden, 1}, kAll);
  a.assumptions.push_back("multi-token prediction: " + std::to_string(count) +
                          " layer(s) are stored, and are no part of a step or of the parameters");
}

}  // namespace floorline
