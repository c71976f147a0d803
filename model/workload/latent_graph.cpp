// SPDX-License-Identifier: Apache-2.0
// Multi-head latent attention on one of tp ranks, T tokens, H this rank's heads; a cached token is
// R = kv_rank and r = rope_dim elements, the same on every rank (arXiv 2405.04434, §2.1):
//   qkv_a_proj    [T,h] × [h, r_q + R + r]      q_a_norm kv_a_norm
//   q_b_proj      [T,r_q] × [r_q, H(n+r)]       rope on the r parts
//   attention     one operator of two forms, over the pairs of query and seen key:
//     absorbed    scores and values in the latent space: pairs·H·(2(R+r) + 2R), and the queries to
//                 it and the results from it: T·2RH(n+v)
//     expanded    keys and values made of the latents: pairs·H·(2(n+r) + 2v), and all seen tokens
//                 made wide: tokens·2RH(n+v)
//                 F is the smaller, unless `mla` fixes one. Both read the latents and kv_b_proj
//                 once, and take one exponential a pair and head. Where products with kv_b_proj
//                 compute narrower than attention, its terms count by the ratio of widths (weaker:
//                 they may run that much faster).
//   o_proj        [T,H·v] × [H·v,h]
// Indexer (DeepSeek-V3.2): index_q [T,r_q] × [r_q,i·d], index_k [T,h] × [h,d+i], index_norm, and
// index_scores over all pairs: i·2d FLOPs each, all cached keys of d read; attention then sees
// top_k of them. Naive counts read keys and values of H heads, or the latent twice.
#include <algorithm>

#include "model/workload/layer_parts.hpp"

namespace floorline {

namespace {

std::string text(std::int64_t number) { return std::to_string(number); }

class LatentAttention {
 public:
  explicit LatentAttention(const LayerPart& layer)
      : l_(layer),
        b_(layer.b),
        s_(layer.group.latent),
        heads_(layer.group.attention.q_heads / layer.b.layout.tp),
        seen_(layer.b, layer.group.attention, layer.group.latent.index_top_k) {}

  TensorId add(TensorId normed) {
    project(normed);
    turn();
    if (s_.index_heads > 0) index(normed);
    const TensorId out = attend();
    const TensorId projected = b_.activation(l_.named("o_proj.out"), {b_.tokens, b_.hidden});
    b_.add_product(l_.named("o_proj"), {out, l_.weight("self_attn.o_proj.weight")}, {projected});
    return projected;
  }

 private:
  [[nodiscard]] bool gathers(Phase phase) const {
    return b_.layout.cp > 1 && b_.scenario.phase == phase;
  }
  TensorId state(const char* name, const std::string& tokens, std::int64_t size) {
    return b_.tensor(l_.named(name), {tokens, text(size)}, b_.kv_dtype, TensorRole::state);
  }

  void project(TensorId normed) {
    const TensorId kv = l_.rows("kv_a", s_.kv_rank);
    k_rope_ = l_.rows("k_pe", s_.rope_dim);
    const TensorId kv_weight = l_.weight("self_attn.kv_a_proj_with_mqa.weight");
    q_nope_ = l_.rows("q_nope", heads_ * s_.nope_dim);
    q_rope_ = l_.rows("q_pe", heads_ * s_.rope_dim);
    if (s_.q_rank > 0) {
      const TensorId low = l_.rows("q_a", s_.q_rank);
      b_.add_product(l_.named("qkv_a_proj"),
                     {normed, l_.weight("self_attn.q_a_proj.weight"), kv_weight},
                     {low, kv, k_rope_});
      q_low_ =
          l_.norm("q_a_norm", "self_attn.q_a_layernorm.weight", low, {b_.tokens, text(s_.q_rank)});
      b_.add_product(l_.named("q_b_proj"), {q_low_, l_.weight("self_attn.q_b_proj.weight")},
                     {q_nope_, q_rope_});
    } else {
      b_.add_product(l_.named("qkv_a_proj"),
                     {normed, l_.weight("self_attn.q_proj.weight"), kv_weight},
                     {q_nope_, q_rope_, kv, k_rope_});
    }
    latent_ = state("latent_new", b_.tokens, s_.kv_rank);
    const TensorId scale = l_.weight("self_attn.kv_a_layernorm.weight");
    b_.add(l_.named("kv_a_norm"), OperatorKind::rmsnorm, {kv, scale}, {latent_}).compute =
        b_.vector_precision();
  }

  void turn() {
    const TensorId q_rot = l_.rows("q_rot", heads_ * s_.rope_dim);
    const TensorId k_rot = state("k_rot_new", b_.tokens, s_.rope_dim);
    b_.add(l_.named("rope"), OperatorKind::rope, {q_rope_, k_rope_}, {q_rot, k_rot}).compute =
        b_.vector_precision();
    q_rope_ = q_rot;
    k_rope_ = k_rot;
    const std::string all = "batch*new";
    const std::int64_t cp = b_.layout.cp;
    const OperatorKind kind = OperatorKind::all_gather;
    if (gathers(Phase::prefill)) {
      latent_ =
          b_.collective(l_.named("latent_gather"), kind, latent_, {all, text(s_.kv_rank)}, cp);
      k_rope_ = b_.collective(l_.named("k_gather"), kind, k_rope_, {all, text(s_.rope_dim)}, cp);
    } else if (gathers(Phase::decode)) {
      q_nope_ =
          b_.collective(l_.named("q_gather"), kind, q_nope_, {all, text(heads_ * s_.nope_dim)}, cp);
      q_rope_ = b_.collective(l_.named("q_pe_gather"), kind, q_rope_,
                              {all, text(heads_ * s_.rope_dim)}, cp);
    }
  }

  /// The keys of the indexer are kept as its queries compute: fp8 in fp8 checkpoints.
  void index(TensorId normed) {
    const std::int64_t heads = s_.index_heads;
    const TensorId wide = l_.weight("self_attn.indexer.wq_b.weight");
    const Precision implied = b_.implied_compute(wide);
    const Precision kept = implied == Precision::none ? b_.kv_dtype : implied;
    const TensorId q = l_.rows("index_q.out", heads * s_.index_dim);
    b_.add_product(l_.named("index_q"), {q_low_, wide}, {q});
    const TensorId k = l_.rows("index_k.out", s_.index_dim);
    b_.add_product(l_.named("index_k"), {normed, l_.weight("self_attn.indexer.wk.weight")}, {k});
    const TensorId weights = l_.rows("index_weights.out", heads);
    b_.add_product(l_.named("index_weights"),
                   {normed, l_.weight("self_attn.indexer.weights_proj.weight")}, {weights});
    const TensorId k_new = b_.tensor(l_.named("index_k_new"), {b_.tokens, text(s_.index_dim)}, kept,
                                     TensorRole::state);
    const TensorId scale = l_.weight("self_attn.indexer.k_norm.weight");
    const TensorId shift = l_.weight("self_attn.indexer.k_norm.bias");
    b_.add(l_.named("index_norm"), OperatorKind::layernorm, {k, scale, shift}, {k_new}).compute =
        b_.vector_precision();
    const SeenKeys all(b_, l_.group.attention, 0);
    const TensorId cache =
        b_.tensor(l_.named("index_k_cache"), {all.cached_tokens(), text(s_.index_dim)}, kept,
                  TensorRole::state);
    chosen_ = b_.tensor(l_.named("index_chosen"), {b_.tokens, "1"}, Precision::int32,
                        TensorRole::intermediate);
    const MatrixPrecision precision = b_.product_precision({cache, cache});
    Operator& op = b_.add(l_.named("index_scores"), OperatorKind::custom,
                          {q, weights, k_new, cache}, {chosen_});
    op.compute = precision.compute;
    op.accumulate = precision.accumulate;
    b_.set(op, Key::flops, "(" + all.pairs() + ")*" + text(2 * heads * s_.index_dim));
  }

  [[nodiscard]] std::string work(TensorId kv_b, Precision attention) const {
    const std::string pairs = "(" + seen_.pairs() + ")*" + text(2 * heads_) + "*";
    const std::int64_t up = 2 * s_.kv_rank * heads_ * (s_.nope_dim + s_.v_dim);
    const Precision implied = b_.implied_compute(kv_b);
    std::string wide = text(up);
    if (implied != Precision::none && storage_bits(implied) < storage_bits(attention)) {
      wide += "*" + text(static_cast<std::int64_t>(4 * storage_bits(implied))) + "/" +
              text(static_cast<std::int64_t>(4 * storage_bits(attention)));
    }
    const std::string cp = text(b_.layout.cp);
    const std::string absorbed =
        pairs + text(2 * s_.kv_rank + s_.rope_dim) + "+batch*new/" + cp + "*" + wide;
    const std::string expanded = pairs + text(s_.nope_dim + s_.rope_dim + s_.v_dim) + "+(" +
                                 seen_.all_tokens() + ")*" + wide;
    switch (b_.scenario.mla) {
      case LatentForm::least:
        return "min(" + absorbed + "," + expanded + ")";
      case LatentForm::absorbed:
        return absorbed;
      case LatentForm::expanded:
        return expanded;
    }
    return absorbed;
  }

  TensorId attend() {
    const TensorId cache = state("latent_cache", seen_.cached_tokens(), s_.kv_rank);
    const TensorId k_cache = state("k_rot_cache", seen_.cached_tokens(), s_.rope_dim);
    const TensorId kv_b = l_.weight("self_attn.kv_b_proj.weight");
    const bool all = gathers(Phase::decode);
    const std::string width = text(heads_ * s_.v_dim);
    const TensorId out = b_.activation(l_.named("attn"), {all ? "batch*new" : b_.tokens, width});
    const MatrixPrecision precision = b_.product_precision({q_nope_, cache});
    std::vector<TensorId> inputs{q_nope_, q_rope_, cache, k_cache, latent_, k_rope_, kv_b};
    if (s_.index_heads > 0) inputs.push_back(chosen_);
    const std::vector<TensorId> scales = b_.scales_of(kv_b);
    inputs.insert(inputs.end(), scales.begin(), scales.end());
    Operator& op = b_.add(l_.named("attention"), OperatorKind::attention, std::move(inputs), {out});
    op.compute = precision.compute;
    op.accumulate = precision.accumulate;
    seen_.set_lengths(op);
    b_.set(op, Key::q_heads, text(heads_));
    b_.set(op, Key::kv_heads, "1");
    b_.set(op, Key::head_dim, text(s_.kv_rank + s_.rope_dim));
    b_.set(op, Key::v_dim, text(s_.kv_rank));
    seen_.set_mask(op);
    op.stated_work = b_.expression(work(kv_b, precision.compute));
    if (!all) return out;
    return b_.collective(l_.named("attn_scatter"), OperatorKind::reduce_scatter, out,
                         {b_.tokens, width}, b_.layout.cp);
  }

  const LayerPart& l_;
  GraphBuilder& b_;
  const LatentShape& s_;
  std::int64_t heads_;
  SeenKeys seen_;
  TensorId q_low_{}, q_nope_{}, q_rope_{}, k_rope_{}, latent_{}, chosen_{};
};

}  // namespace

TensorId add_latent_attention(const LayerPart& layer, TensorId normed) {
  return LatentAttention(layer).add(normed);
}

}  // namespace floorline
