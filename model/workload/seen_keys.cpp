// SPDX-License-Identifier: Apache-2.0
// Chunks of c tokens: a query at position p sees p mod c + 1 keys, so of n cached tokens a decode
// step sees n mod c. A prefill is cut at chunk borders into sequences of their own. Steps of
// several tokens that cross a border are counted without the cache (weaker). top_k (an indexer):
// each query sees at most top_k keys, chosen by the data. Pairs are those of a window as wide;
// bytes are those of the latest keys, the least that a decode step could read.
#include <algorithm>
#include <charconv>

#include "model/workload/layer_parts.hpp"

namespace floorline {

namespace {

std::string text(std::int64_t number) { return std::to_string(number); }

/// A whole number of any size.
std::string text(double whole) {
  constexpr std::size_t kDigits = 400;
  std::string out(kDigits, ' ');
  const auto [end, failed] =
      std::to_chars(out.data(), out.data() + out.size(), whole, std::chars_format::fixed, 0);
  out.resize(static_cast<std::size_t>(end - out.data()));
  return out;
}

double pairs_of(const SequenceGroup& s, double window) {
  const double before = s.kv_len - s.q_len;
  if (window <= 0) return s.q_len * before + s.q_len * (s.q_len + 1) / 2;
  const double growing = std::clamp(window - before, 0.0, s.q_len);
  return growing * before + growing * (growing + 1) / 2 + (s.q_len - growing) * window;
}

}  // namespace

SeenKeys::SeenKeys(const GraphBuilder& builder, const AttentionShape& attention, std::int64_t top_k)
    : b_(builder), a_(attention), top_k_(top_k) {
  const bool cut = a_.chunk > 0 && b_.scenario.phase == Phase::prefill;
  if (b_.scenario.contexts.empty() && !cut) {
    symbolic(b_.layout.cp);
  } else {
    listed(b_.layout.cp);
  }
}

std::int64_t SeenKeys::visible(std::int64_t context) const {
  if (a_.window > 0) return std::min(context, a_.window - 1);
  if (a_.chunk == 0) return context;
  const std::int64_t in_chunk = context % a_.chunk;
  return in_chunk + b_.scenario.new_tokens() <= a_.chunk ? in_chunk : 0;
}

void SeenKeys::symbolic(std::int64_t cp) {
  std::string seen = "context";
  if (a_.window > 0) seen = "min(context," + text(a_.window - 1) + ")";
  if (a_.chunk > 0) {
    const std::string c = text(a_.chunk);
    const std::string in_chunk = "(context-" + c + "*floor(context/" + c + "))";
    const std::string last = text(a_.chunk - b_.scenario.new_tokens() + 1);
    seen = b_.scenario.new_tokens() > a_.chunk
               ? "0"
               : in_chunk + "*(1-min(1,floor(" + in_chunk + "/" + last + ")))";
  }
  const std::string ranks = text(cp);
  const std::string w = text(a_.window > 0 ? a_.window : top_k_);
  q_len_ = "new";
  kv_len_ = seen + "+new";
  cached_ = "batch*(" + seen + ")";
  all_tokens_ = "batch*(" + kv_len_ + ")/" + ranks;
  if (a_.window > 0 || top_k_ > 0) {
    const std::string growing = "min(max(" + w + "-(" + seen + "),0),new)";
    pairs_ = "batch*(" + growing + "*(" + seen + ")+" + growing + "*(" + growing + "+1)/2+(new-" +
             growing + ")*" + w + ")/" + ranks;
  } else {
    pairs_ = "batch*(new*(" + seen + ")+new*(new+1)/2)/" + ranks;
  }
  if (cp == 1) return;
  if (b_.scenario.phase == Phase::decode) {
    const std::string part = "max(0,ceil((" + seen + "+new)/" + ranks + ")-new)";
    kv_len_ = part + "+new";
    cached_ = "batch*" + part;
  } else {
    q_len_ = "floor(new/" + ranks + ")";
    kv_len_ = seen + "+" + q_len_;
    if (a_.window == 0 && top_k_ == 0) kv_len_ += "+floor((new-" + q_len_ + ")/2)";
  }
}

void SeenKeys::add_sequence(double count, std::int64_t context, std::int64_t cp, double& cached,
                            double& all) {
  const std::int64_t fresh = b_.scenario.new_tokens();
  std::int64_t seen = visible(context);
  const auto add = [&](double times, std::int64_t q, std::int64_t before) {
    if (q <= 0 || times <= 0) return;
    sequences_.push_back({count * times, static_cast<double>(q), static_cast<double>(before + q)});
    all += count * times * static_cast<double>(before + q);
  };
  if (a_.chunk > 0 && b_.scenario.phase == Phase::prefill) {
    const std::int64_t c = a_.chunk;
    const std::int64_t first = std::min(fresh, c - context % c);
    seen = context % c;
    add(1, first, seen);
    add(static_cast<double>((fresh - first) / c), c, 0);
    add(1, (fresh - first) % c, 0);
  } else if (cp == 1) {
    add(1, fresh, seen);
  } else if (b_.scenario.phase == Phase::decode) {
    seen = std::max<std::int64_t>(0, (seen + fresh + cp - 1) / cp - fresh);
    add(1, fresh, seen);
  } else {
    const std::int64_t q = fresh / cp;
    add(1, q, seen + (a_.window == 0 && top_k_ == 0 ? (fresh - q) / 2 : 0));
  }
  cached += count * static_cast<double>(seen);
}

void SeenKeys::listed(std::int64_t cp) {
  double cached = 0;
  double all = 0;
  const Scenario& scenario = b_.scenario;
  if (scenario.contexts.empty()) {
    add_sequence(static_cast<double>(scenario.sequences()), scenario.cached(), cp, cached, all);
  }
  for (const ContextGroup& group : scenario.contexts) {
    add_sequence(static_cast<double>(group.count), group.context, cp, cached, all);
  }
  double pairs = 0;
  const auto window = static_cast<double>(a_.window > 0 ? a_.window : top_k_);
  for (const SequenceGroup& s : sequences_) pairs += s.count * pairs_of(s, window);
  cached_ = text(cached);
  all_tokens_ = text(all);
  pairs_ = text(pairs);
}

void SeenKeys::set_lengths(Operator& op) const {
  if (sequences_.empty()) {
    b_.set(op, Key::batch, "batch");
    b_.set(op, Key::q_len, q_len_);
    b_.set(op, Key::kv_len, kv_len_);
  }
  op.sequences = sequences_;
}

void SeenKeys::set_mask(Operator& op) const {
  b_.set(op, Key::causal, "1");
  const std::int64_t window = a_.window > 0 ? a_.window : top_k_;
  if (window > 0) b_.set(op, Key::window, text(window));
}

}  // namespace floorline
