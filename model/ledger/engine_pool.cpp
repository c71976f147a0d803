// SPDX-License-Identifier: Apache-2.0
#include "model/ledger/engine_pool.hpp"

#include <algorithm>

#include "model/quantity/unit_names.hpp"

namespace floorline {

namespace {

constexpr std::int64_t kLongest = std::int64_t{1} << 50U;

ByteCount not_negative(ByteCount bytes) {
  return bytes.overflowed() ? ByteCount(0) : std::max(bytes, ByteCount(0));
}

ByteCount scaled(ByteCount bytes, double factor) {
  return whole_budget(not_negative(bytes).to_bytes() * factor);
}

/// Lines beside the caches that the engine takes off before it sizes the pool.
ByteCount taken_off(const RankLedger& rank, const EngineProfile& engine, bool high) {
  ByteCount sum;
  for (const LedgerEntry& line : rank.ledger.lines) {
    if (line.name == "kv_cache" || line.name == "state") continue;
    if (line.name == "graphs" && !engine.graphs_in_pool) continue;
    const bool range = line.interval.has_value();
    // A context made before the engine's first look at memory is in no difference it takes.
    if (line.name == "runtime" && !high && !engine.context_in_pool) continue;
    sum = sum + (range && !high ? line.interval->low : line.bytes);
  }
  return sum;
}

ByteCount weights_of(const RankLedger& rank, bool high) {
  ByteCount sum;
  for (const char* name : {"weights", "allocator_rounding", "kernel_padding"}) {
    const LedgerEntry* line = find_line(rank.ledger, name);
    if (line != nullptr) sum = sum + (line->interval && !high ? line->interval->low : line->bytes);
  }
  return sum;
}

ByteCount runtime_of(const RankLedger& rank, bool high) {
  const LedgerEntry* line = find_line(rank.ledger, "runtime");
  if (line == nullptr) return {};
  return line->interval && !high ? line->interval->low : line->bytes;
}

/// Of the whole memory; the engine's own default where nobody gave one.
double fraction_of(const LedgerModel& model, const MemoryTotal& total) {
  if (total.utilization) return *total.utilization;
  const EngineProfile& e = *model.engine;
  if (!e.reserve) return e.fraction;
  const EngineProfile::Reserve& r = *e.reserve;
  const std::int64_t tokens =
      std::max(r.tokens_least, model.settings.batched_tokens.value_or(e.batched_tokens));
  const std::int64_t sequences = model.settings.max_sequences.value_or(e.sequences);
  const std::int64_t ranks = model.layout.tp * model.layout.pp;
  const double mib = r.fixed_mib + r.mib_per_token * static_cast<double>(tokens) +
                     r.mib_per_sequence * static_cast<double>(sequences) +
                     r.mib_per_rank * static_cast<double>(ranks);
  Bytes kept = MiB(mib);
  if (total.bytes > r.above) kept = std::max(kept, r.least.to_bytes());
  const double all = total.bytes.to_bytes().in_base_units();
  return all > 0 ? std::clamp(1 - kept.in_base_units() / all, 0.0, 1.0) : 0;
}

ByteCount available_of(const LedgerModel& model, const RankLedger& rank, const MemoryTotal& total,
                       bool high) {
  if (model.settings.available_kv) return *model.settings.available_kv;
  const EngineProfile& e = *model.engine;
  const double fraction = fraction_of(model, total);
  switch (e.pool) {
    case PoolRule::none:
      break;
    case PoolRule::rest:
      return not_negative(scaled(total.bytes, fraction) - taken_off(rank, e, high));
    case PoolRule::taken:
      return not_negative(scaled(total.bytes - runtime_of(rank, high), fraction) -
                          weights_of(rank, high));
    case PoolRule::free:
      return scaled(total.bytes - taken_off(rank, e, high), fraction);
  }
  return {};
}

/// Everything alive while serving but the caches.
ByteCount beside_caches(const RankLedger& rank) {
  ByteCount sum;
  for (const LedgerEntry& line : rank.ledger.lines) {
    const bool cache = line.name == "kv_cache" || line.name == "state";
    if (!cache && line.alive.holds(kServe)) sum = sum + line.bytes;
  }
  return sum;
}

bool holds(const CachePlan& plan, const PoolEnd& end, std::int64_t tokens) {
  if (plan.rule == CacheRule::groups) return request_blocks(plan, tokens) <= end.blocks;
  return request_bytes(plan, tokens).sum() <= end.available;
}

/// The longest request up to `most` that fits; requests grow with their length.
std::int64_t longest(const CachePlan& plan, const PoolEnd& end, std::int64_t most) {
  if (most < 1 || !holds(plan, end, 1)) return 0;
  std::int64_t low = 1;
  std::int64_t high = most;
  while (low < high) {
    const std::int64_t middle = low + (high - low + 1) / 2;
    if (holds(plan, end, middle)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

double ratio(ByteCount a, ByteCount b) {
  const double whole = b.to_bytes().in_base_units();
  return whole > 0 ? a.to_bytes().in_base_units() / whole : 0;
}

PoolEnd end_of(const LedgerModel& model, const CachePlan& plan, ByteCount available,
               std::int64_t max_len) {
  PoolEnd end;
  end.available = available;
  const std::int64_t bytes = available.count().value_or(0);
  if (plan.rule == CacheRule::groups) {
    const std::int64_t each = plan.block_bytes.count().value_or(0);
    end.blocks = each > 0 ? bytes / each : 0;
    const std::int64_t request = request_blocks(plan, max_len);
    end.concurrency =
        request > 0 ? static_cast<double>(end.blocks) / static_cast<double>(request) : 0;
    end.tokens = plan.group_count > 0 ? end.blocks / plan.group_count * plan.block : 0;
    if (model.engine->tokens_logged == TokensLogged::concurrency) {
      end.tokens = static_cast<std::int64_t>(end.concurrency * static_cast<double>(max_len));
    }
  } else {
    const std::int64_t each = (bytes_per_token(plan) * plan.block).count().value_or(0);
    end.blocks = each > 0 ? bytes / each : 0;
    end.tokens = end.blocks * plan.block;
    end.concurrency = ratio(available, request_bytes(plan, max_len).sum());
  }
  end.longest = longest(plan, end, max_len);
  const std::int64_t any = longest(plan, end, kLongest);
  if (any < kLongest) end.longest_any = any;
  return end;
}

/// As if windows held their window only, one page a token, no padding.
CachePlan ideal_plan(const LedgerModel& model, std::int64_t stage) {
  static const EngineProfile kNone;
  LedgerSettings settings = model.settings;
  settings.block_tokens.reset();
  settings.windows_as_full.reset();
  const std::int64_t layers = model.layers > 0 ? model.layers : model.architecture->layer_count();
  return cache_plan(*model.architecture, model.scenario, model.layout,
                    stage_content(*model.architecture, model.layout, stage, layers), kNone,
                    settings);
}

}  // namespace

std::optional<EnginePool> engine_pool(const LedgerModel& model,
                                      const std::vector<RankLedger>& ranks,
                                      const std::optional<MemoryTotal>& total) {
  if (model.engine->pool == PoolRule::none) return std::nullopt;
  if (!total && !model.settings.available_kv) return std::nullopt;
  const MemoryTotal given = total.value_or(MemoryTotal{});
  std::optional<EnginePool> least;
  for (const RankLedger& rank : ranks) {
    if (rank.plan.empty()) continue;
    EnginePool pool;
    pool.stage = rank.stage;
    const std::int64_t positions = model.architecture->max_positions;
    const std::int64_t asked = rank.sequences.empty() ? 1 : rank.sequences.front().context;
    pool.max_len = model.settings.max_len.value_or(positions > 0 ? positions : asked);
    pool.weights = {weights_of(rank, false), weights_of(rank, true)};
    pool.block = rank.plan.block;
    pool.block_bytes = rank.plan.rule == CacheRule::groups
                           ? rank.plan.block_bytes
                           : bytes_per_token(rank.plan) * rank.plan.block;
    pool.groups = std::max<std::int64_t>(1, rank.plan.group_count);
    pool.low = end_of(model, rank.plan, available_of(model, rank, given, true), pool.max_len);
    pool.high = end_of(model, rank.plan, available_of(model, rank, given, false), pool.max_len);
    pool.engine = request_bytes(rank.plan, pool.max_len);
    pool.ideal = request_bytes(ideal_plan(model, rank.stage), pool.max_len);
    pool.need = cached_bytes(rank.plan, rank.sequences).sum();
    if (!least || pool.low.blocks < least->low.blocks) least = pool;
  }
  return least;
}

Budget budget_of(const EngineProfile& engine, const MemoryTotal& total) {
  double fraction = total.utilization.value_or(1);
  if (engine.pool == PoolRule::rest) fraction = total.utilization.value_or(engine.fraction);
  if (engine.pool == PoolRule::taken || engine.pool == PoolRule::free) fraction = 1;
  const bool typed = total.text.find(" of ") == std::string::npos;
  if (fraction == 1) return {total.bytes, typed ? std::string() : total.text};
  return {scaled(total.bytes, fraction), total.text + " x " + exact_text(fraction)};
}

std::vector<RankLedger> engine_ledgers(const LedgerModel& model,
                                       const std::optional<MemoryTotal>& total) {
  std::vector<RankLedger> ranks = rank_ledgers(model);
  const PoolRule rule = model.engine->pool;
  if (!total || (rule != PoolRule::taken && rule != PoolRule::free)) return ranks;
  for (RankLedger& rank : ranks) {
    const ByteCount pool = available_of(model, rank, *total, true);
    const ByteCount kept = not_negative(total->bytes - pool - beside_caches(rank));
    if (kept == ByteCount(0)) continue;
    LedgerEntry line;
    line.name = "reserve";
    line.bytes = kept;
    line.evidence = Evidence::formula;
    line.alive = Lifetime::at(kServe);
    if (model.told) {
      line.formula = "kept back beside the lines above: the pool gets a fraction of " +
                     exact_text(fraction_of(model, *total));
      line.source = model.engine->title;
    }
    rank.ledger.lines.push_back(std::move(line));
  }
  return ranks;
}

}  // namespace floorline
