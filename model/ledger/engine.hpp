// SPDX-License-Identifier: Apache-2.0
// What a serving engine does with memory, as data (workloads/engines/*.toml, read by engine_file):
// padding, page rules, what it reserves, what it says in its start-up log.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/ledger/ledger.hpp"

namespace floorline {

/// How the cache is divided.
enum class CacheRule : std::uint8_t {
  kinds,   ///< each kind of layer by itself, in blocks; windows hold their window only
  groups,  ///< vLLM: groups with equally many layers, one page size, one block table each
  cells,   ///< llama.cpp: cells for all sequences together
};
/// What the cache pool is given.
enum class PoolRule : std::uint8_t {
  none,   ///< no pool: what the scenario needs
  rest,   ///< vLLM: total x fraction, less everything else
  taken,  ///< SGLang: free memory after load, less free memory before x (1 - fraction)
  free,   ///< TensorRT-LLM: a fraction of what is free after everything else
};
/// What "KV cache size: N tokens" means.
enum class TokensLogged : std::uint8_t {
  blocks,       ///< blocks / groups x tokens of a block
  concurrency,  ///< concurrency x longest length
};
/// What activations are in the widest step.
enum class ActivationRule : std::uint8_t {
  layers,          ///< tokens x (3 ff / tp + 3 h) elements
  compute_buffer,  ///< llama.cpp: ubatch x 4 B x (vocabulary + k x hidden), k from 1 to 2
};

struct EngineProfile {
  std::string name = "none";
  std::string version;  ///< what was asked for; empty: the newest rules
  std::string title;
  bool matched = false;  ///< its lines were compared with the engine's own log

  // weights
  std::int64_t vocab_multiple = 1;
  bool rotary_table = false;
  bool pytorch_allocator = false;
  std::vector<std::vector<std::string>> fused;  ///< projections that are one tensor
  std::int64_t block_format_multiple = 1;       ///< kernels may pad mxfp4 and nvfp4 to it
  bool stacked_experts = false;                 ///< all experts of a layer are one tensor

  // cache
  CacheRule cache = CacheRule::kinds;
  std::int64_t block_tokens = 1;
  std::int64_t latent_block_tokens = 1;
  bool windows_as_full = false;  ///< sliding and chunked layers get pages for all tokens
  double group_padding = 1.5;    ///< groups: the larger kind sets the size below this ratio
  std::int64_t state_pages = 1;  ///< of a request and a state layer
  std::int64_t state_pages_prefix_caching = 1;

  // scheduler; 0: as the scenario says
  std::int64_t batched_tokens = 0;
  std::int64_t sequences = 0;

  // pool
  PoolRule pool = PoolRule::none;
  double fraction = 1;
  /// taken, without a utilization: what the default fraction keeps back of the total, in MiB:
  /// fixed + per_token x max(batched_tokens, tokens_least) + per_sequence x sequences
  /// + per_rank x tp x pp, and at least `reserve_least` on devices above `reserve_above`.
  struct Reserve {
    double fixed_mib = 0, mib_per_token = 0, mib_per_sequence = 0, mib_per_rank = 0;
    std::int64_t tokens_least = 0;
    ByteCount least, above;
  };
  std::optional<Reserve> reserve;
  bool graphs_in_pool = false;  ///< graphs are estimated before the pool is sized
  TokensLogged tokens_logged = TokensLogged::blocks;

  // intervals; absent: not counted
  std::optional<ByteInterval> context;    ///< of the runtime (CUDA context)
  bool context_in_pool = true;            ///< taken off before the pool is sized, at the high end
  std::optional<ByteInterval> graphs;     ///< captured graphs
  std::optional<ByteInterval> comm;       ///< communication buffers, if there is more than one rank
  std::optional<ByteInterval> workspace;  ///< of libraries

  // activations
  ActivationRule activations = ActivationRule::layers;
  double sampler_low = 0;  ///< x sequences x vocabulary x 4 B; 0: logits as the scenario says
  double sampler_high = 0;
  std::string source;  ///< where its figures are from
};

std::string_view name_of(PoolRule rule);

/// Settings of the ledger that are no symbols of a model.
struct LedgerSettings {
  std::string kv_format;                       ///< empty: kv_dtype
  std::optional<std::int64_t> max_len;         ///< longest request; absent: the model's positions
  std::optional<std::int64_t> batched_tokens;  ///< of a step
  std::optional<std::int64_t> max_sequences;   ///< of a step
  std::optional<std::int64_t> block_tokens;    ///< of a page
  bool prefix_caching = false;
  std::optional<bool> windows_as_full;    ///< pages for all tokens in window and chunk layers
  bool draft = false;                     ///< layers of multi-token prediction are loaded
  std::optional<ByteCount> available_kv;  ///< what the engine's log said
  std::int64_t concurrency = 0;           ///< sequences that are cached; 0: the batch
};

struct SettingInfo {
  const char* name;
  const char* fallback;
  const char* meaning;
};
const std::vector<SettingInfo>& ledger_settings();
/// Whether the name is one; `error` says what is wrong with the value.
bool apply_setting(std::string_view name, std::string_view value, LedgerSettings& settings,
                   std::string& error);

}  // namespace floorline
