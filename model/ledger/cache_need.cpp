// SPDX-License-Identifier: Apache-2.0
#include "model/ledger/cache_need.hpp"

#include <algorithm>

namespace floorline {

namespace {

constexpr std::int64_t kCells = 256;
constexpr std::int64_t kStateBlock = 16;

std::int64_t divided(std::int64_t size, std::int64_t parts) { return (size + parts - 1) / parts; }

/// Tokens of a sequence of `tokens` that a layer keeps.
std::int64_t kept(const CacheKind& kind, std::int64_t tokens) {
  return kind.limit > 0 ? std::min(tokens, kind.limit) : tokens;
}

void add_kind(CacheKind kind, std::vector<CacheKind>& kinds) {
  if (kind.layers == 0 || kind.bytes == ByteCount(0)) return;
  for (CacheKind& old : kinds) {
    if (old.span != kind.span || old.bytes != kind.bytes || old.limit != kind.limit) continue;
    old.layers += kind.layers;
    return;
  }
  kinds.push_back(kind);
}

CacheKind kind_of(const LayerGroup& layer, bool windows_as_full) {
  CacheKind kind;
  const AttentionShape& a = layer.attention;
  if (layer.mixer != Mixer::attention || windows_as_full) return kind;
  if (a.window > 0) {
    kind.span = CacheSpan::window;
    kind.limit = a.window;
  } else if (a.chunk > 0) {
    kind.span = CacheSpan::chunk;
    kind.limit = a.chunk;
  }
  return kind;
}

bool is_state(const LayerGroup& layer) {
  return layer.mixer == Mixer::mamba2 || layer.mixer == Mixer::gated_delta_net;
}

std::int64_t draft_layers(const Architecture& a) {
  const NamedWeight* norm = a.find_weight("mtp.input_layernorm.weight", -1);
  return norm == nullptr ? 0 : norm->count;
}

std::vector<CacheKind> kinds_of(const Architecture& a, const Scenario& scenario,
                                const ParallelLayout& layout, const StageContent& stage,
                                const EngineProfile& engine, const LedgerSettings& settings) {
  const KvFormat format = chosen_format(a, scenario, settings);
  const Precision conv = activation_storage(a, scenario);
  const bool as_full = settings.windows_as_full.value_or(engine.windows_as_full);
  std::vector<CacheKind> kinds;
  for (std::size_t g = 0; g < a.layers.size(); ++g) {
    const LayerGroup& layer = a.layers[g];
    CacheKind kind = kind_of(layer, as_full);
    kind.layers = stage.layers[g];
    kind.bytes = kv_bytes_per_token(layer, format, layout.tp);
    if (is_state(layer)) {
      kind.span = CacheSpan::state;
      kind.bytes = state_bytes(layer, conv, layout.tp);
    }
    add_kind(kind, kinds);
  }
  if (settings.draft && stage.last && !a.layers.empty()) {
    CacheKind kind = kind_of(a.layers.back(), as_full);
    kind.layers = draft_layers(a);
    kind.bytes = kv_bytes_per_token(a.layers.back(), format, layout.tp);
    add_kind(kind, kinds);
  }
  return kinds;
}

bool has_latent(const Architecture& a) {
  return std::any_of(a.layers.begin(), a.layers.end(),
                     [](const LayerGroup& g) { return g.mixer == Mixer::latent_attention; });
}

/// Kinds that keep equally many tokens: one group of all their layers, pages as they are.
bool see_alike(const std::vector<CacheKind>& kinds) {
  return std::all_of(kinds.begin(), kinds.end(), [&](const CacheKind& k) {
    return k.span == kinds.front().span && k.limit == kinds.front().limit;
  });
}

/// Tokens of a page of attention layers that holds a state, and the page's bytes.
std::int64_t state_block(const std::vector<CacheKind>& kinds, ByteCount per_token) {
  ByteCount state;
  for (const CacheKind& k : kinds) {
    if (k.span == CacheSpan::state) state = std::max(state, k.bytes);
  }
  const std::int64_t unit = per_token.count().value_or(0) * kStateBlock;
  return unit == 0 ? 1 : kStateBlock * divided(state.count().value_or(0), unit);
}

std::int64_t layers_of_group(const std::vector<CacheKind>& kinds, double padding) {
  std::int64_t least = kinds.front().layers;
  std::int64_t most = least;
  for (const CacheKind& k : kinds) {
    least = std::min(least, k.layers);
    most = std::max(most, k.layers);
  }
  return static_cast<double>(most) < static_cast<double>(least) * padding ? most : least;
}

void make_groups(const EngineProfile& engine, CachePlan& plan) {
  std::vector<CacheKind>& kinds = plan.kinds;
  if (see_alike(kinds)) {
    for (CacheKind& k : kinds) {
      k.block = plan.block;
      const std::int64_t tokens = k.span == CacheSpan::state ? 1 : plan.block;
      plan.block_bytes = plan.block_bytes + k.bytes * k.layers * tokens;
    }
    plan.group_count = 1;
    return;
  }
  ByteCount most;
  const CacheKind* widest = nullptr;
  for (const CacheKind& k : kinds) {
    if (k.span == CacheSpan::state || k.bytes <= most) continue;
    most = k.bytes;
    widest = &k;
  }
  const bool states = std::any_of(kinds.begin(), kinds.end(),
                                  [](const CacheKind& k) { return k.span == CacheSpan::state; });
  if (states && widest != nullptr) plan.block = std::max(plan.block, state_block(kinds, most));
  ByteCount page = most * plan.block;
  for (const CacheKind& k : kinds) {
    if (k.span == CacheSpan::state) page = std::max(page, k.bytes);
  }
  const std::int64_t size = layers_of_group(kinds, engine.group_padding);
  for (CacheKind& k : kinds) {
    k.groups = divided(k.layers, size);
    plan.group_count += k.groups;
    k.block = plan.block;
    if (k.span == CacheSpan::state || k.bytes == most) continue;
    const std::int64_t wide = most.count().value_or(1);
    const std::int64_t own = k.bytes.count().value_or(1);
    k.block = plan.block * (wide / own);
    plan.padded = plan.padded || wide % own != 0;
  }
  plan.block_bytes = page * size;
}

std::int64_t blocks_of(const CachePlan& plan, const CacheKind& kind, std::int64_t tokens) {
  switch (kind.span) {
    case CacheSpan::all:
      return divided(tokens, kind.block);
    case CacheSpan::window:
      return divided(std::min(kind.limit - 1 + plan.step_tokens, tokens), kind.block) + 1;
    case CacheSpan::chunk:
      return divided(std::min(kind.limit + plan.step_tokens, tokens), kind.block);
    case CacheSpan::state:
      return plan.state_pages;
  }
  return 0;
}

CacheBytes kinds_bytes(const CachePlan& plan, std::int64_t tokens) {
  CacheBytes sum;
  for (const CacheKind& k : plan.kinds) {
    if (k.span == CacheSpan::state) {
      sum.state = sum.state + k.bytes * k.layers * plan.state_pages;
    } else {
      const std::int64_t blocks = divided(kept(k, tokens), k.block);
      sum.kv = sum.kv + k.bytes * k.block * blocks * k.layers;
    }
  }
  return sum;
}

/// Each kind's share of the blocks it takes.
CacheBytes groups_bytes(const CachePlan& plan, std::int64_t tokens) {
  CacheBytes sum;
  if (see_alike(plan.kinds)) {
    const std::int64_t blocks = blocks_of(plan, plan.kinds.front(), tokens);
    const bool state = plan.kinds.front().span == CacheSpan::state;
    (state ? sum.state : sum.kv) = plan.block_bytes * blocks;
    return sum;
  }
  for (const CacheKind& k : plan.kinds) {
    const ByteCount bytes = plan.block_bytes * k.groups * blocks_of(plan, k, tokens);
    ByteCount& into = k.span == CacheSpan::state ? sum.state : sum.kv;
    into = into + bytes;
  }
  return sum;
}

CacheBytes cells_bytes(const CachePlan& plan, const std::vector<ContextGroup>& sequences) {
  ByteCount tokens;
  ByteCount count;
  for (const ContextGroup& s : sequences) {
    tokens = tokens + ByteCount(s.context) * s.count;
    count = count + ByteCount(s.count);
  }
  CacheBytes sum;
  for (const CacheKind& k : plan.kinds) {
    if (k.span == CacheSpan::state) {
      sum.state = sum.state + k.bytes * k.layers * count.count().value_or(0);
      continue;
    }
    ByteCount cells = tokens;
    if (k.limit > 0) cells = std::min(cells, count * k.limit + ByteCount(plan.step_tokens));
    if (cells.overflowed()) {
      sum.kv = ByteCount::overflow();
      continue;
    }
    const std::int64_t padded = divided(*cells.count(), kCells) * kCells;
    sum.kv = sum.kv + k.bytes * k.layers * padded;
  }
  return sum;
}

std::string number(std::int64_t n) { return std::to_string(n); }
std::string number(ByteCount bytes) {
  return bytes.overflowed() ? "> 9.2e18" : std::to_string(*bytes.count());
}

std::string_view span_words(CacheSpan span) {
  switch (span) {
    case CacheSpan::all:
      return "";
    case CacheSpan::window:
      return "window ";
    case CacheSpan::chunk:
      return "chunk ";
    case CacheSpan::state:
      return "state ";
  }
  return "";
}

}  // namespace

KvFormat chosen_format(const Architecture& architecture, const Scenario& scenario,
                       const LedgerSettings& settings) {
  if (!settings.kv_format.empty()) {
    if (const auto format = kv_format_from(settings.kv_format)) return *format;
  }
  return kv_format_of(kv_storage(architecture, scenario));
}

CachePlan cache_plan(const Architecture& architecture, const Scenario& scenario,
                     const ParallelLayout& layout, const StageContent& stage,
                     const EngineProfile& engine, const LedgerSettings& settings) {
  CachePlan plan;
  plan.rule = engine.cache;
  plan.kinds = kinds_of(architecture, scenario, layout, stage, engine, settings);
  plan.cp = layout.cp;
  plan.step_tokens = settings.batched_tokens.value_or(engine.batched_tokens);
  plan.state_pages =
      settings.prefix_caching ? engine.state_pages_prefix_caching : engine.state_pages;
  plan.block = settings.block_tokens.value_or(has_latent(architecture) ? engine.latent_block_tokens
                                                                       : engine.block_tokens);
  for (CacheKind& k : plan.kinds) k.block = plan.block;
  if (plan.rule == CacheRule::groups && !plan.kinds.empty()) make_groups(engine, plan);
  return plan;
}

CacheBytes request_bytes(const CachePlan& plan, std::int64_t tokens) {
  if (plan.empty()) return {};
  const std::int64_t here = divided(tokens, plan.cp);
  switch (plan.rule) {
    case CacheRule::kinds:
      return kinds_bytes(plan, here);
    case CacheRule::groups:
      return groups_bytes(plan, here);
    case CacheRule::cells:
      return cells_bytes(plan, {{here, 1}});
  }
  return {};
}

std::int64_t request_blocks(const CachePlan& plan, std::int64_t tokens) {
  const std::int64_t here = divided(tokens, plan.cp);
  if (plan.empty()) return 0;
  if (see_alike(plan.kinds)) return blocks_of(plan, plan.kinds.front(), here);
  std::int64_t blocks = 0;
  for (const CacheKind& k : plan.kinds) blocks += k.groups * blocks_of(plan, k, here);
  return blocks;
}

CacheBytes cached_bytes(const CachePlan& plan, const std::vector<ContextGroup>& sequences) {
  if (plan.empty()) return {};
  if (plan.rule == CacheRule::cells) {
    std::vector<ContextGroup> here = sequences;
    for (ContextGroup& s : here) s.context = divided(s.context, plan.cp);
    return cells_bytes(plan, here);
  }
  CacheBytes sum;
  for (const ContextGroup& s : sequences) {
    const CacheBytes one = request_bytes(plan, s.context);
    sum = sum + CacheBytes{one.kv * s.count, one.state * s.count};
  }
  return sum;
}

ByteCount bytes_per_token(const CachePlan& plan) {
  ByteCount sum;
  for (const CacheKind& k : plan.kinds) {
    if (k.span != CacheSpan::state) sum = sum + k.bytes * k.layers;
  }
  return sum;
}

std::vector<ContextGroup> cached_sequences(const Scenario& scenario,
                                           const LedgerSettings& settings) {
  const std::int64_t generated = scenario.phase == Phase::generate
                                     ? scenario.prompt + scenario.output * scenario.tokens_per_step
                                     : scenario.new_tokens();
  if (!scenario.contexts.empty()) {
    std::vector<ContextGroup> sequences = scenario.contexts;
    for (ContextGroup& s : sequences) s.context += generated;
    return sequences;
  }
  const std::int64_t count = settings.concurrency > 0 ? settings.concurrency : scenario.batch;
  return {{scenario.cached() + generated, count}};
}

std::string cache_text(const CachePlan& plan, const std::vector<ContextGroup>& sequences) {
  std::string text;
  for (const CacheKind& k : plan.kinds) {
    if (k.span == CacheSpan::state) continue;
    text += (text.empty() ? "" : " + ") + number(k.layers) + " layers x " + number(k.bytes) + " B";
    if (k.limit > 0) {
      text += " (" + std::string(span_words(k.span)) + number(k.limit) + ")";
    }
  }
  text += " a token; ";
  if (sequences.size() == 1) {
    text += number(sequences.front().count) + " x " + number(sequences.front().context) + " tokens";
  } else {
    text += number(static_cast<std::int64_t>(sequences.size())) + " lengths";
  }
  if (plan.cp > 1) text += " / cp " + number(plan.cp);
  if (plan.block > 1) text += ", pages of " + number(plan.block);
  if (plan.rule == CacheRule::groups && plan.group_count > 1) {
    text += ", " + number(plan.group_count) + " groups of equally many layers";
  }
  if (plan.padded) text += ", unequal pages padded";
  return text;
}

}  // namespace floorline
