// SPDX-License-Identifier: Apache-2.0
#include "validation/experiment/experiment.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "model/input/diagnostic.hpp"
#include "model/quantity/unit_names.hpp"

namespace floorline {

namespace {

/// A size by its name. `most` keeps any product of two of them, and any buffer, within int64.
struct SizeRow {
  std::string_view name;
  std::int64_t ExperimentSizes::*member;
  std::int64_t least;
  std::int64_t most;
};
constexpr std::int64_t kMostElements = std::int64_t{1} << 36;
constexpr double kMostBytes = 1e15;  // of one call: no count of elements beyond it overflows
constexpr std::int64_t kMostDimension = std::int64_t{1} << 24;
constexpr std::array<SizeRow, 20> kSizes{{
    {"n", &ExperimentSizes::n, 1, kMostElements},
    {"rows", &ExperimentSizes::rows, 1, kMostDimension},
    {"cols", &ExperimentSizes::cols, 1, kMostDimension},
    {"m", &ExperimentSizes::m, 1, kMostDimension},
    {"k", &ExperimentSizes::k, 1, kMostDimension},
    {"stride", &ExperimentSizes::stride, 1, 65536},
    {"count", &ExperimentSizes::count, 1, 1'000'000},
    {"bytes", &ExperimentSizes::bytes, 4, std::int64_t{1} << 38},
    {"batch", &ExperimentSizes::batch, 1, 65536},
    {"heads", &ExperimentSizes::heads, 1, 65536},
    {"q_len", &ExperimentSizes::q_len, 1, 1 << 20},
    {"kv_len", &ExperimentSizes::kv_len, 1, 1 << 20},
    {"head_dim", &ExperimentSizes::head_dim, 1, 4096},
    {"causal", &ExperimentSizes::causal, 0, 1},
    {"streams", &ExperimentSizes::streams, 1, 64},
    {"ranks", &ExperimentSizes::ranks, 1, 4096},
    {"pinned", &ExperimentSizes::pinned, 0, 1},
    {"graph", &ExperimentSizes::graph, 0, 1},
    {"vector", &ExperimentSizes::vector, 0, 16},
    {"offset", &ExperimentSizes::offset, 0, 64},
}};

/// The keys of a kind, the required ones first up to '|'.
struct KindRow {
  ExperimentKind kind;
  std::string_view name;
  std::string_view keys;
  Need need;
};
constexpr std::array<KindRow, kExperimentKindCount> kKinds{{
    {ExperimentKind::copy, "copy", "n | vector offset", Need::nothing},
    {ExperimentKind::triad, "triad", "n | vector offset", Need::nothing},
    {ExperimentKind::vector_add, "vector_add", "n | vector offset", Need::nothing},
    {ExperimentKind::strided, "strided", "n stride |", Need::nothing},
    {ExperimentKind::gather, "gather", "n rows |", Need::nothing},
    {ExperimentKind::h2d, "h2d", "bytes | pinned", Need::host_link},
    {ExperimentKind::d2h, "d2h", "bytes | pinned", Need::host_link},
    {ExperimentKind::launch_chain, "launch_chain", "n count | graph", Need::launch_queue},
    {ExperimentKind::atomic_sum, "atomic_sum", "n |", Need::nothing},
    {ExperimentKind::two_stage_sum, "two_stage_sum", "n |", Need::nothing},
    {ExperimentKind::layernorm_three, "layernorm_three", "rows cols |", Need::nothing},
    {ExperimentKind::layernorm, "layernorm", "rows cols | vector", Need::nothing},
    {ExperimentKind::residual_norm, "residual_norm", "rows cols |", Need::nothing},
    {ExperimentKind::residual_norm_one, "residual_norm_one", "rows cols |", Need::nothing},
    {ExperimentKind::softmax, "softmax", "rows cols |", Need::nothing},
    {ExperimentKind::gemm, "gemm", "m n k | offset", Need::nothing},
    {ExperimentKind::gemv, "gemv", "n k |", Need::nothing},
    {ExperimentKind::attention_naive, "attention_naive",
     "heads q_len kv_len head_dim | batch causal", Need::nothing},
    {ExperimentKind::attention_tiled, "attention_tiled",
     "heads q_len kv_len head_dim | batch causal", Need::nothing},
    {ExperimentKind::overlap, "overlap", "bytes count streams | pinned", Need::host_link},
    {ExperimentKind::dependency_chain, "dependency_chain", "n count |", Need::nothing},
    {ExperimentKind::independent_work, "independent_work", "n count | streams", Need::nothing},
    {ExperimentKind::peer_copy, "peer_copy", "bytes |", Need::two_devices},
    {ExperimentKind::all_reduce, "all_reduce", "bytes ranks |", Need::two_devices},
}};

const KindRow& row_of(ExperimentKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

struct PrecisionRow {
  std::string_view name;
  Precision ExperimentPrecision::*member;
};
constexpr std::array<PrecisionRow, 5> kPrecisionWords{{
    {"in", &ExperimentPrecision::in},
    {"weight", &ExperimentPrecision::weight},
    {"out", &ExperimentPrecision::out},
    {"compute", &ExperimentPrecision::compute},
    {"accumulate", &ExperimentPrecision::accumulate},
}};

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t begin = text.find_first_not_of(" \t\n", at);
    if (begin == std::string_view::npos) break;
    const std::size_t end = std::min(text.find_first_of(" \t\n", begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    at = end;
  }
  return words;
}

bool takes(ExperimentKind kind, std::string_view key) {
  const std::vector<std::string_view> keys = words_of(row_of(kind).keys);
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

bool requires_key(ExperimentKind kind, std::string_view key) {
  const std::vector<std::string_view> keys = words_of(row_of(kind).keys);
  const auto bar = std::find(keys.begin(), keys.end(), "|");
  return std::find(keys.begin(), bar, key) != bar;
}

/// What is not written: weight and out as in; arithmetic in fp32, of fp64 data in fp64, of matrix
/// products in the format of the operands.
ExperimentPrecision default_precision(ExperimentKind kind, Precision in) {
  ExperimentPrecision p{in, in, in, Precision::fp32, Precision::fp32};
  if (in == Precision::fp64) p.compute = p.accumulate = Precision::fp64;
  if (kind == ExperimentKind::gemm) p.compute = in;
  if (in == Precision::int8) {
    p.out = p.accumulate = Precision::int32;
    p.compute = Precision::int8;
  }
  return p;
}

class ExperimentText {
 public:
  explicit ExperimentText(std::string_view text) : text_(text), words_(words_of(text)) {}

  ExperimentSpec parse() {
    const auto kind = words_.empty() ? std::nullopt : experiment_kind_from(words_.front());
    if (!kind) {
      const std::string word(words_.empty() ? "" : words_.front());
      add(word, "\"" + shortened(word, 60) + "\" is not an experiment" +
                    did_you_mean(word, kind_names()));
      diagnostics_.throw_if_any();
    }
    spec_.kind = *kind;
    spec_.name = name_of(*kind);
    spec_.need = row_of(*kind).need;
    spec_.precision = default_precision(*kind, storage_word());
    for (std::size_t i = 1; i < words_.size(); ++i) read_word(words_[i]);
    require_sizes();
    diagnostics_.throw_if_any();
    if (footprint(spec_) > Bytes(kMostBytes)) {
      add(words_.front(), "needs more than 1e15 bytes; expected what a machine could hold");
      diagnostics_.throw_if_any();
    }
    const std::string full = text_of(spec_);
    const std::size_t space = full.find(' ');
    spec_.variant = space == std::string::npos ? "" : full.substr(space + 1);
    return std::move(spec_);
  }

 private:
  static std::vector<std::string> kind_names() {
    std::vector<std::string> names;
    for (const KindRow& row : kKinds) names.emplace_back(row.name);
    return names;
  }
  void add(std::string_view word, std::string message) {
    const auto column =
        word.empty() ? 1U : static_cast<std::uint32_t>(word.data() - text_.data()) + 1U;
    diagnostics_.add(position_in("experiment", 1, column), "", std::move(message));
  }
  [[nodiscard]] Precision storage_word() const {
    for (const std::string_view word : words_) {
      if (!word.starts_with("in=")) continue;
      if (const auto p = precision_from(word.substr(3))) return *p;
    }
    return Precision::fp32;
  }
  void read_word(std::string_view word) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      add(word, "\"" + shortened(word, 60) + "\" is not key=value");
      return;
    }
    const std::string_view key = word.substr(0, equals);
    const std::string_view value = word.substr(equals + 1);
    if (std::find(seen_.begin(), seen_.end(), key) != seen_.end()) {
      add(word, std::string(key) + ": given twice; expected each key once");
      return;
    }
    seen_.push_back(key);
    for (const PrecisionRow& row : kPrecisionWords) {
      if (row.name == key) return read_precision(word, row, value);
    }
    for (const SizeRow& row : kSizes) {
      if (row.name == key && takes(spec_.kind, key)) return read_size(word, row, value);
    }
    add(word,
        shortened(key, 60) + ": is not a key of " + spec_.name + did_you_mean(key, known_keys()));
  }
  void read_precision(std::string_view word, const PrecisionRow& row, std::string_view value) {
    const auto p = precision_from(value);
    if (p && *p != Precision::any) {
      spec_.precision.*row.member = *p;
    } else {
      add(word, std::string(row.name) + ": \"" + shortened(value, 60) + "\" is not a precision");
    }
  }
  void read_size(std::string_view word, const SizeRow& row, std::string_view value) {
    std::optional<double> number = parse_number(value);
    if (row.name == "bytes") {
      const ParsedQuantity q = parse_quantity(value, Dimension::bytes);
      number = q.error.empty() ? std::optional<double>(std::round(q.base)) : std::nullopt;
    }
    if (number && *number >= static_cast<double>(row.least) &&
        *number <= static_cast<double>(row.most) && std::floor(*number) == *number) {
      spec_.sizes.*row.member = static_cast<std::int64_t>(*number);
      return;
    }
    add(word, std::string(row.name) + ": \"" + shortened(value, 60) + "\" is not " +
                  (row.name == "bytes" ? "bytes with their unit" : "a whole number") + " from " +
                  std::to_string(row.least) + " to " + std::to_string(row.most));
  }
  [[nodiscard]] std::vector<std::string> known_keys() const {
    std::vector<std::string> names;
    for (const SizeRow& row : kSizes) {
      if (takes(spec_.kind, row.name)) names.emplace_back(row.name);
    }
    for (const PrecisionRow& row : kPrecisionWords) names.emplace_back(row.name);
    return names;
  }
  void require_sizes() {
    for (const SizeRow& row : kSizes) {
      if (!requires_key(spec_.kind, row.name)) continue;
      if (std::find(seen_.begin(), seen_.end(), row.name) != seen_.end()) continue;
      add(words_.front(), std::string(row.name) + ": missing; " + spec_.name + " needs it");
    }
    if (spec_.sizes.causal != 0 && spec_.sizes.q_len > spec_.sizes.kv_len) {
      add(words_.front(), "q_len: more queries than keys; a causal query needs its own key");
    }
  }

  std::string_view text_;
  std::vector<std::string_view> words_;
  std::vector<std::string_view> seen_;
  ExperimentSpec spec_;
  Diagnostics diagnostics_;
};

}  // namespace

std::string_view name_of(ExperimentKind kind) { return row_of(kind).name; }

std::optional<ExperimentKind> experiment_kind_from(std::string_view name) {
  for (const KindRow& row : kKinds) {
    if (row.name == name) return row.kind;
  }
  return std::nullopt;
}

std::string_view name_of(Need need) {
  switch (need) {
    case Need::nothing:
      return "nothing";
    case Need::host_link:
      return "a link between host and device";
    case Need::launch_queue:
      return "a queue that kernels are launched into";
    case Need::two_devices:
      return "two devices";
  }
  return "";
}

std::string text_of(const ExperimentSpec& spec) {
  std::string text(name_of(spec.kind));
  const ExperimentSizes defaults;
  for (const SizeRow& row : kSizes) {
    const std::int64_t value = spec.sizes.*row.member;
    const bool required = requires_key(spec.kind, row.name);
    if (!required && (!takes(spec.kind, row.name) || value == defaults.*row.member)) continue;
    text += " " + std::string(row.name) + "=" + std::to_string(value);
    if (row.name == "bytes") text += "B";
  }
  const ExperimentPrecision usual = default_precision(spec.kind, spec.precision.in);
  for (const PrecisionRow& row : kPrecisionWords) {
    const bool is_in = row.name == "in";
    if (!is_in && spec.precision.*row.member == usual.*row.member) continue;
    text += " " + std::string(row.name) + "=" + std::string(name_of(spec.precision.*row.member));
  }
  return text;
}

ExperimentSpec parse_experiment(std::string_view text) { return ExperimentText(text).parse(); }

}  // namespace floorline
