// SPDX-License-Identifier: Apache-2.0
#include "model/ledger/inference_ledger.hpp"

#include <algorithm>
#include <cmath>

#include "model/quantity/unit_names.hpp"
#include "model/workload/model_graph.hpp"

namespace floorline {

namespace {

constexpr Lifetime kAlways = Lifetime::all(kInferenceInstants);
constexpr Lifetime kRunning = Lifetime().with(kProfile).with(kServe);
constexpr Lifetime kServing = Lifetime::at(kServe);

std::string number(std::int64_t n) { return std::to_string(n); }

std::int64_t total_layers(const LedgerModel& model) {
  return model.layers > 0 ? model.layers : model.architecture->layer_count();
}

/// bytes x factor, for the factors of ranges: 8.5.
std::string bytes_text(ByteCount bytes) {
  return bytes.overflowed() ? "more than 9.2e18 bytes" : to_text(bytes.to_bytes());
}
ByteCount scaled(ByteCount bytes, double factor) { return whole_need(bytes.to_bytes() * factor); }

class RankLines {
 public:
  RankLines(const LedgerModel& model, std::int64_t stage)
      : m_(model), a_(*model.architecture), e_(*model.engine) {
    rank_.stage = stage;
    content_ = stage_content(a_, m_.layout, stage, total_layers(m_));
    element_ = static_cast<std::int64_t>(
        std::ceil(storage_bits(activation_storage(a_, m_.scenario)) / 8.0));
  }

  RankLedger build() {
    rank_.ledger.instants = {"load", "profile", "serve"};
    rank_.ledger.lines.reserve(9);
    add_weights();
    add_cache();
    add_step();
    add_range("workspace", e_.workspace, kRunning, "libraries' workspaces, a handle and stream");
    if (m_.layout.ranks() > 1) {
      add_range("comm_buffers", e_.comm, kRunning,
                "communicators of " + number(m_.layout.ranks()) + " ranks, a rank");
    }
    add_range("graphs", e_.graphs, kServing, "captured graphs; more sizes take more");
    add_range("runtime", e_.context, kAlways, "the driver's context of one process");
    for (const LedgerEntry& entry : m_.given) state(entry);
    return std::move(rank_);
  }

 private:
  void add(LedgerEntry entry, Lifetime alive) {
    entry.alive = alive;
    rank_.ledger.lines.push_back(std::move(entry));
  }

  /// Keeps the lifetime that the line has without being stated.
  void state(LedgerEntry entry) {
    entry.alive = kAlways;
    if (entry.name == "kv_cache" || entry.name == "state" || entry.name == "graphs") {
      entry.alive = kServing;
    }
    std::vector<LedgerEntry>& lines = rank_.ledger.lines;
    if (entry.name == "activations" || entry.name == "logits") {
      entry.alive = kRunning;
      std::erase_if(lines, [](const LedgerEntry& l) {
        return l.name == "activations" || l.name == "logits";
      });
    }
    if (const LedgerEntry* old = find_line(rank_.ledger, entry.name)) entry.alive = old->alive;
    set_line(rank_.ledger, std::move(entry));
  }

  static LedgerEntry line(const char* name, ByteCount bytes, Evidence evidence) {
    LedgerEntry entry;
    entry.name = name;
    entry.bytes = bytes;
    entry.evidence = evidence;
    return entry;
  }

  void add_weights() {
    rank_.weights = rank_weights(a_, m_.scenario, m_.layout, content_, e_, m_.settings);
    LedgerEntry entry = line("weights", rank_.weights.bytes, Evidence::exact);
    if (m_.told) {
      entry.formula = weights_text();
      entry.source = "each tensor at its own storage";
    }
    add(std::move(entry), kAlways);
    if (rank_.weights.kernel_padding > ByteCount(0)) {
      add(interval_entry("kernel_padding", {ByteCount(0), rank_.weights.kernel_padding}, kAlways,
                         "block formats padded to multiples of " +
                             number(e_.block_format_multiple) + ", if the kernel's layout needs it",
                         m_.told ? e_.title : std::string()),
          kAlways);
    }
    const ByteInterval& rounding = rank_.weights.rounding;
    if (rounding.high == ByteCount(0)) return;
    if (rounding.low == rounding.high) {
      entry = line("allocator_rounding", rounding.high, Evidence::exact);
      entry.formula = "segments of 2 MiB, tensors from 10 MiB on";
      return add(std::move(entry), kAlways);
    }
    add(interval_entry("allocator_rounding", rounding, kAlways,
                       "segments of 2 MiB; tensors of 1 to 10 MiB keep up to 1 MiB more",
                       m_.told ? e_.title : std::string()),
        kAlways);
  }

  [[nodiscard]] std::string weights_text() const {
    const RankWeights& w = rank_.weights;
    std::string text;
    for (const PrecisionBytes& part : w.parts) {
      text += (text.empty() ? "" : " + ") + std::string(name_of(part.storage)) + " " +
              to_text(part.bytes.to_bytes());
    }
    if (w.scales > ByteCount(0)) text += "; scales among them " + to_text(w.scales.to_bytes());
    if (w.padding > ByteCount(0)) {
      text += "; vocabulary padded to a multiple of " + number(e_.vocab_multiple) + ": " +
              to_text(w.padding.to_bytes());
    }
    if (w.rotary > ByteCount(0)) text += "; and the rotary table " + to_text(w.rotary.to_bytes());
    return text;
  }

  void add_cache() {
    rank_.plan = cache_plan(a_, m_.scenario, m_.layout, content_, e_, m_.settings);
    rank_.sequences = cached_sequences(m_.scenario, m_.settings);
    const CachePlan& plan = rank_.plan;
    if (plan.empty()) return;
    const CacheBytes bytes = cached_bytes(plan, rank_.sequences);
    const bool exact = !plan.padded && (e_.matched || e_.name == "none");
    const Evidence evidence = exact ? Evidence::exact : Evidence::formula;
    if (bytes_per_token(plan) > ByteCount(0)) {
      LedgerEntry entry = line("kv_cache", bytes.kv, evidence);
      if (m_.told) {
        entry.formula = cache_text(plan, rank_.sequences);
        entry.source = "stored as " + std::string(chosen_format(a_, m_.scenario, m_.settings).name);
      }
      add(std::move(entry), kServing);
    }
    if (bytes.state > ByteCount(0)) {
      LedgerEntry entry = line("state", bytes.state, evidence);
      if (m_.told) entry.formula = state_text();
      add(std::move(entry), kServing);
    }
  }

  [[nodiscard]] std::string state_text() const {
    std::string text;
    for (const CacheKind& k : rank_.plan.kinds) {
      if (k.span != CacheSpan::state) continue;
      text += (text.empty() ? "" : " + ") + number(k.layers) + " layers x " + bytes_of(k.bytes) +
              " a sequence";
    }
    if (rank_.plan.state_pages > 1) text += " x " + number(rank_.plan.state_pages) + " pages";
    if (rank_.plan.rule == CacheRule::groups) text += ", in pages of the attention layers' size";
    return text;
  }
  static std::string bytes_of(ByteCount bytes) {
    return bytes.overflowed() ? "> 9.2e18 B" : number(*bytes.count()) + " B";
  }

  /// Tokens of the widest step.
  [[nodiscard]] ByteCount step_tokens() const {
    const std::int64_t engine = m_.settings.batched_tokens.value_or(e_.batched_tokens);
    if (engine > 0) return ByteCount(engine);
    const Scenario& s = m_.scenario;
    const std::int64_t each = s.phase == Phase::generate ? s.prompt : s.new_tokens();
    const std::int64_t here = (each + m_.layout.cp - 1) / m_.layout.cp;
    return ByteCount(s.phase == Phase::decode ? each : here) * s.sequences();
  }

  /// Elements a token of the widest layer of this stage.
  [[nodiscard]] std::int64_t widest() const {
    std::int64_t most = 0;
    for (std::size_t g = 0; g < a_.layers.size(); ++g) {
      if (content_.layers[g] == 0) continue;
      most = std::max(most, std::max(mixer_width(a_.layers[g]), feed_forward_width(a_.layers[g])));
    }
    return most + 3 * a_.hidden;
  }
  [[nodiscard]] std::int64_t mixer_width(const LayerGroup& layer) const {
    if (layer.mixer != Mixer::attention) return 0;
    const AttentionShape& s = layer.attention;
    const std::int64_t kv = (s.kv_heads + m_.layout.tp - 1) / m_.layout.tp;
    return 2 * s.q_heads / m_.layout.tp * s.head_dim + kv * (s.head_dim + s.v_dim);
  }
  [[nodiscard]] std::int64_t feed_forward_width(const LayerGroup& layer) const {
    const std::int64_t tp = m_.layout.tp;
    const bool dense = layer.feed_forward == FeedForward::dense ||
                       layer.feed_forward == FeedForward::dense_and_experts;
    const std::int64_t plain = dense ? 3 * layer.mlp.intermediate / tp : 0;
    const ExpertShape& x = layer.experts;
    if (x.experts == 0) return plain;
    const std::int64_t shared = 3 * x.shared_intermediate / tp;
    return std::max(plain, x.top_k * (3 * x.intermediate / tp + a_.hidden) + shared);
  }

  void add_step() {
    if (e_.activations == ActivationRule::compute_buffer) return add_compute_buffer();
    const ByteCount tokens = step_tokens();
    LedgerEntry step = line("activations", tokens * (widest() * element_), Evidence::formula);
    if (m_.told) {
      step.formula = bytes_of(tokens).substr(0, bytes_of(tokens).find(' ')) + " tokens x " +
                     number(element_) + " B x " + number(widest()) +
                     " elements (3 ff / tp + 3 h of the widest layer)";
    }
    LedgerEntry logits = logits_line();
    const bool wider = logits.bytes > step.bytes;
    LedgerEntry& kept = wider ? logits : step;
    if (m_.told && logits.bytes > ByteCount(0)) {
      const LedgerEntry& other = wider ? step : logits;
      kept.formula += "; larger than the " + other.name + "' " + bytes_text(other.bytes) +
                      ", which are not alive beside them";
    }
    add(std::move(kept), kRunning);
  }

  [[nodiscard]] LedgerEntry logits_line() const {
    LedgerEntry none = line("logits", {}, Evidence::formula);
    if (!content_.last) return none;
    if (e_.sampler_high > 0) {
      const std::int64_t rows = m_.settings.max_sequences.value_or(e_.sequences);
      const ByteCount each = ByteCount(rows) * a_.vocab * 4;
      return interval_entry(
          "logits", {scaled(each, e_.sampler_low), scaled(each, e_.sampler_high)}, kRunning,
          m_.told ? exact_text(e_.sampler_low) + " to " + exact_text(e_.sampler_high) + " x " +
                        number(rows) + " sequences x " + number(a_.vocab) + " x 4 B (sampler)"
                  : std::string(),
          "");
    }
    const Logits rows = m_.scenario.logits_rows();
    if (rows == Logits::none) return none;
    const std::int64_t most = m_.settings.max_sequences.value_or(e_.sequences);
    const bool every = rows == Logits::all && e_.batched_tokens == 0;
    const ByteCount count =
        every ? step_tokens() : ByteCount(most > 0 ? most : m_.scenario.sequences());
    LedgerEntry entry = line("logits", count * (a_.vocab * (element_ + 4)), Evidence::formula);
    if (m_.told) {
      entry.formula = bytes_of(count).substr(0, bytes_of(count).find(' ')) + " rows x " +
                      number(a_.vocab) + " x (" + number(element_) + " + 4) B";
    }
    return entry;
  }

  void add_compute_buffer() {
    const std::int64_t tokens = m_.settings.batched_tokens.value_or(e_.batched_tokens);
    const auto bytes = [&](std::int64_t k) {
      return ByteCount(tokens) * (4 * ((content_.last ? a_.vocab : 0) + k * a_.hidden));
    };
    add(interval_entry("activations", {bytes(1), bytes(2)}, kRunning,
                       "compute buffer: " + number(tokens) + " x 4 B x (" +
                           (content_.last ? number(a_.vocab) : "0") + " + 1 to 2 x " +
                           number(a_.hidden) + ")",
                       m_.told ? e_.title : std::string()),
        kRunning);
  }

  void add_range(const char* name, const std::optional<ByteInterval>& range, Lifetime alive,
                 std::string formula) {
    if (!range) return;
    add(interval_entry(name, *range, alive, m_.told ? std::move(formula) : std::string(),
                       m_.told ? e_.title : std::string()),
        alive);
  }

  const LedgerModel& m_;
  const Architecture& a_;
  const EngineProfile& e_;
  StageContent content_;
  std::int64_t element_ = 2;
  RankLedger rank_;
};

}  // namespace

RankLedger rank_ledger(const LedgerModel& model, std::int64_t stage) {
  return RankLines(model, stage).build();
}

std::vector<RankLedger> rank_ledgers(const LedgerModel& model) {
  std::vector<RankLedger> ranks;
  const bool whole = total_layers(model) == model.architecture->layer_count();
  if (whole) {
    for (const DistinctStage& stage : distinct_stages(*model.architecture, model.layout)) {
      ranks.push_back(rank_ledger(model, stage.stage));
      ranks.back().stages = stage.count;
    }
    return ranks;
  }
  for (std::int64_t stage = 0; stage < model.layout.pp; ++stage) {
    ranks.push_back(rank_ledger(model, stage));
  }
  return ranks;
}

const RankLedger& worst_rank(const std::vector<RankLedger>& ranks) {
  return *std::max_element(ranks.begin(), ranks.end(),
                           [](const RankLedger& a, const RankLedger& b) {
                             return peak_of(a.ledger).bytes < peak_of(b.ledger).bytes;
                           });
}

Peak worst_peak(const LedgerModel& model) {
  return peak_of(worst_rank(rank_ledgers(model)).ledger);
}

std::vector<std::string> model_errors(const LedgerModel& model) {
  std::vector<std::string> errors;
  const KvFormat format = chosen_format(*model.architecture, model.scenario, model.settings);
  for (const LayerGroup& layer : model.architecture->layers) {
    const std::string_view wrong = format_error(layer, format);
    if (wrong.empty()) continue;
    errors.push_back("kv_format: " + std::string(format.name) + " " + std::string(wrong));
    break;
  }
  return errors;
}

std::vector<std::string> ledger_notes(const LedgerModel& model, const RankLedger& rank) {
  std::vector<std::string> notes;
  const EngineProfile& e = *model.engine;
  if (e.name == "none") {
    notes.push_back(
        "no engine: the plain sum, without context, graphs, communication buffers and workspaces "
        "(--engine counts them)");
  } else if (!e.matched) {
    notes.push_back(e.title + ": its lines were not compared with its own log");
  }
  if (rank.weights.draft > ByteCount(0) && !model.settings.draft) {
    notes.push_back("layers of multi-token prediction are not loaded: " +
                    to_text(rank.weights.draft.to_bytes()) + " more with --set draft=true");
  }
  if (model.layout.pp > 1) {
    notes.push_back("lines are of pipeline stage " + number(rank.stage + 1) + " of " +
                    number(model.layout.pp) + ", the one that needs most");
  }
  return notes;
}

}  // namespace floorline
