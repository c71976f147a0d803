// SPDX-License-Identifier: Apache-2.0
// What the caches of a stage need on one rank, and how an engine lays them out.
//   kinds    a layer of n tokens holds n, a window min(n, w), a chunk min(n, c), a state its state;
//            in blocks of b tokens where the engine has blocks
//   groups   vLLM (v1/core/kv_cache_utils.py): layers of one kind form groups of equally many
//   layers,
//            the last one padded; all groups share one page size. A request has, in each group,
//              ceil(len/b) blocks (full), ceil(min(w-1 + step, len)/b) + 1 (window),
//              ceil(min(c + step, len)/b) (chunk), 1 or 2 (state)
//            With state layers b = 16 ceil(state / (16 x bytes a token)), and their page is padded.
//            Kinds that see equally many tokens are one group, whatever their pages are.
//   cells    llama.cpp: all sequences share pad256(tokens), of a window
//            pad256(min(tokens, w x sequences + step))
// Context parallelism leaves ceil(n / cp) tokens of a sequence on a rank.
#pragma once

#include <string>
#include <vector>

#include "model/ledger/engine.hpp"
#include "model/ledger/kv_format.hpp"
#include "model/ledger/rank_weights.hpp"
#include "model/workload/architecture.hpp"
#include "model/workload/layout.hpp"
#include "model/workload/scenario.hpp"

namespace floorline {

enum class CacheSpan : std::uint8_t { all, window, chunk, state };

/// Layers of a stage whose caches are alike.
struct CacheKind {
  CacheSpan span = CacheSpan::all;
  std::int64_t layers = 0;
  ByteCount bytes;          ///< of a token in a layer; of a request in a state layer
  std::int64_t limit = 0;   ///< tokens of the window or chunk
  std::int64_t groups = 1;  ///< CacheRule::groups
  std::int64_t block = 1;   ///< tokens of a page
};

struct CachePlan {
  CacheRule rule = CacheRule::kinds;
  std::vector<CacheKind> kinds;
  std::int64_t step_tokens = 0;  ///< that a window has to hold beside itself
  std::int64_t state_pages = 1;
  std::int64_t cp = 1;
  std::int64_t block = 1;        ///< the smallest page, in tokens
  ByteCount block_bytes;         ///< groups: of one block, over the layers of a group
  std::int64_t group_count = 0;  ///< groups
  bool padded = false;           ///< pages of unequal layers were padded to one size
  [[nodiscard]] bool empty() const { return kinds.empty(); }
};

/// Throws nothing: formats are checked by check_cache().
CachePlan cache_plan(const Architecture& architecture, const Scenario& scenario,
                     const ParallelLayout& layout, const StageContent& stage,
                     const EngineProfile& engine, const LedgerSettings& settings);

/// The format that the settings or the scenario name.
KvFormat chosen_format(const Architecture& architecture, const Scenario& scenario,
                       const LedgerSettings& settings);

struct CacheBytes {
  ByteCount kv;
  ByteCount state;
  friend CacheBytes operator+(const CacheBytes& a, const CacheBytes& b) {
    return {a.kv + b.kv, a.state + b.state};
  }
  [[nodiscard]] ByteCount sum() const { return kv + state; }
};
/// One request of `tokens` tokens, as the engine lays it out.
CacheBytes request_bytes(const CachePlan& plan, std::int64_t tokens);
/// Blocks of one request (groups).
std::int64_t request_blocks(const CachePlan& plan, std::int64_t tokens);
/// All sequences together.
CacheBytes cached_bytes(const CachePlan& plan, const std::vector<ContextGroup>& sequences);
/// As if every layer kept every token: full attention everywhere.
ByteCount bytes_per_token(const CachePlan& plan);

/// Lengths that are cached, the step's own tokens included.
std::vector<ContextGroup> cached_sequences(const Scenario& scenario,
                                           const LedgerSettings& settings);

/// "18 layers x 2,048 B x 65,536 tokens + …"
std::string cache_text(const CachePlan& plan, const std::vector<ContextGroup>& sequences);

}  // namespace floorline
