// SPDX-License-Identifier: Apache-2.0
#include "model/ledger/engine_file.hpp"

#include <array>
#include <charconv>
#include <functional>

#include "model/input/table_reader.hpp"

namespace floorline {

namespace {

constexpr std::int64_t kMostTokens = std::int64_t{1} << 40U;

/// "0.10.2", "v0.21": numbers between dots; empty when it is no version.
std::vector<std::int64_t> version_parts(std::string_view text) {
  if (text.starts_with('v')) text.remove_prefix(1);
  std::vector<std::int64_t> parts;
  while (!text.empty()) {
    std::int64_t number = 0;
    const auto [stop, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failed != std::errc() || number < 0) return {};
    parts.push_back(number);
    text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
    if (text.empty()) break;
    if (!text.starts_with('.')) return {};
    text.remove_prefix(1);
    if (text.empty()) return {};
  }
  return parts;
}

/// Absent trailing parts are zero: 0.21 is 0.21.0.
bool before(std::vector<std::int64_t> a, std::vector<std::int64_t> b) {
  const std::size_t size = std::max(a.size(), b.size());
  a.resize(size);
  b.resize(size);
  return a < b;
}

class EngineReader {
 public:
  EngineReader(const Node& document, std::string_view version)
      : document_(document), asked_(version) {}

  EngineProfile read() {
    {
      TableReader root(document_, "", diagnostics_);
      read_head(root);
      read_rules(root);
      read_versions(root);
    }
    diagnostics_.throw_if_any();
    return std::move(engine_);
  }

 private:
  void read_head(TableReader& root) {
    const auto schema = root.count("schema");
    if (!schema || *schema != 1) root.error("schema", "expected schema = 1");
    const auto kind = root.text("kind");
    if (!kind || *kind != "engine") root.error("kind", "expected kind = \"engine\"");
    engine_.name = root.required_text("name");
    engine_.title = root.text("title").value_or(engine_.name);
    engine_.matched = root.flag("matched").value_or(false);
    engine_.source = root.required_text("source");
    engine_.version = asked_;
    if (!asked_.empty() && version_parts(asked_).empty()) {
      diagnostics_.add(position_in("command line"), "--engine-version",
                       quoted(asked_) + " is not a version such as 0.21");
    }
  }

  /// The tables of an engine, and again of a version that changes some of their keys.
  void read_rules(TableReader& root) {
    with(root, "weights", [this](TableReader& t) { read_weights(t); });
    with(root, "cache", [this](TableReader& t) { read_cache(t); });
    with(root, "scheduler", [this](TableReader& t) {
      count(t, "batched_tokens", engine_.batched_tokens);
      count(t, "sequences", engine_.sequences);
    });
    with(root, "pool", [this](TableReader& t) { read_pool(t); });
    with(root, "runtime", [this](TableReader& t) {
      interval(t, "context", engine_.context);
      interval(t, "graphs", engine_.graphs);
      interval(t, "comm_buffers", engine_.comm);
      interval(t, "workspace", engine_.workspace);
    });
    with(root, "activations", [this](TableReader& t) { read_activations(t); });
  }

  void with(TableReader& parent, const char* key, const std::function<void(TableReader&)>& read) {
    const Node* node = parent.node(key);
    if (node == nullptr) return;
    TableReader table(*node, parent.path_of(key), diagnostics_);
    read(table);
  }

  void read_weights(TableReader& t) {
    count(t, "vocab_multiple", engine_.vocab_multiple);
    count(t, "block_format_multiple", engine_.block_format_multiple);
    flag(t, "rotary_table", engine_.rotary_table);
    flag(t, "pytorch_allocator", engine_.pytorch_allocator);
    flag(t, "stacked_experts", engine_.stacked_experts);
    const Node* fused = t.node("fused");
    if (fused == nullptr) return;
    engine_.fused.clear();
    for (const Node& set : fused->items) {
      std::vector<std::string> names;
      for (const Node& name : set.items) names.push_back(name.text);
      if (names.size() < 2) t.error("fused", "expected lists of two names or more");
      engine_.fused.push_back(std::move(names));
    }
  }

  void read_cache(TableReader& t) {
    choice(t, "rule", {"kinds", "groups", "cells"},
           [this](int i) { engine_.cache = static_cast<CacheRule>(i); });
    count(t, "block_tokens", engine_.block_tokens);
    engine_.latent_block_tokens = engine_.block_tokens;
    count(t, "latent_block_tokens", engine_.latent_block_tokens);
    flag(t, "windows_as_full", engine_.windows_as_full);
    number(t, "group_padding", engine_.group_padding);
    count(t, "state_pages", engine_.state_pages);
    engine_.state_pages_prefix_caching = engine_.state_pages;
    count(t, "state_pages_prefix_caching", engine_.state_pages_prefix_caching);
  }

  void read_pool(TableReader& t) {
    choice(t, "rule", {"none", "rest", "taken", "free"},
           [this](int i) { engine_.pool = static_cast<PoolRule>(i); });
    number(t, "fraction", engine_.fraction);
    if (!(engine_.fraction > 0 && engine_.fraction <= 1)) {
      t.error("fraction", "expected a fraction above 0 and up to 1");
    }
    with(t, "reserve", [this](TableReader& r) { read_reserve(r); });
    flag(t, "graphs_in_pool", engine_.graphs_in_pool);
    flag(t, "context_in_pool", engine_.context_in_pool);
    choice(t, "tokens_logged", {"blocks", "concurrency"},
           [this](int i) { engine_.tokens_logged = static_cast<TokensLogged>(i); });
  }

  void read_reserve(TableReader& t) {
    EngineProfile::Reserve reserve;
    number(t, "fixed_mib", reserve.fixed_mib);
    number(t, "mib_per_token", reserve.mib_per_token);
    number(t, "mib_per_sequence", reserve.mib_per_sequence);
    number(t, "mib_per_rank", reserve.mib_per_rank);
    count(t, "tokens_least", reserve.tokens_least);
    if (const auto least = t.quantity<Bytes>("least")) reserve.least = whole_need(*least);
    if (const auto above = t.quantity<Bytes>("above")) reserve.above = whole_need(*above);
    engine_.reserve = reserve;
  }

  void read_activations(TableReader& t) {
    choice(t, "rule", {"layers", "compute_buffer"},
           [this](int i) { engine_.activations = static_cast<ActivationRule>(i); });
    number(t, "sampler_low", engine_.sampler_low);
    number(t, "sampler_high", engine_.sampler_high);
    if (engine_.sampler_low > engine_.sampler_high) {
      t.error("sampler_low", "is above sampler_high");
    }
  }

  /// [[version]] from = "0.21": its tables replace keys from that version on, in the order written.
  void read_versions(TableReader& root) {
    const Node* versions = root.node("version");
    if (versions == nullptr) return;
    for (std::size_t i = 0; i < versions->items.size(); ++i) {
      TableReader table(versions->items[i], join_index("version", i), diagnostics_);
      const std::vector<std::int64_t> from = version_parts(table.required_text("from"));
      if (from.empty()) table.error("from", "expected a version such as \"0.21\"");
      if (!asked_.empty() && before(version_parts(asked_), from)) {
        table.ignore_unread();
      } else {
        read_rules(table);
      }
    }
  }

  void count(TableReader& t, const char* key, std::int64_t& out) {
    const auto value = t.count(key, 1);
    if (!value) return;
    if (*value > kMostTokens) t.error(key, "more than 2^40");
    out = std::min(*value, kMostTokens);
  }
  static void flag(TableReader& t, const char* key, bool& out) { out = t.flag(key).value_or(out); }
  void number(TableReader& t, const char* key, double& out) {
    const double value = t.number(key).value_or(out);
    if (!(value >= 0 && value <= static_cast<double>(kMostTokens))) {
      t.error(key, "expected a number from 0 to 2^40");
      return;
    }
    out = value;
  }
  static void choice(TableReader& t, const char* key, const std::vector<std::string>& names,
                     const std::function<void(int)>& set) {
    const auto text = t.text(key);
    if (!text) return;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] == *text) return set(static_cast<int>(i));
    }
    std::string all;
    for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
    t.error(key, quoted(*text) + " is not one of " + all + did_you_mean(*text, names));
  }
  static void interval(TableReader& t, const char* key, std::optional<ByteInterval>& out) {
    const auto ends = t.texts(key);
    if (!ends) return;
    if (ends->size() != 2) {
      t.error(key, "expected two sizes, [\"0.1 GiB\", \"2.3 GiB\"]");
      return;
    }
    std::array<ByteCount, 2> sizes;
    for (std::size_t i = 0; i < 2; ++i) {
      const ParsedQuantity q = parse_quantity((*ends)[i], Dimension::bytes);
      if (!q.error.empty()) t.error(key, q.error);
      sizes[i] = whole_need(Bytes(q.base));
    }
    if (sizes[0] > sizes[1]) t.error(key, "the first size is above the second");
    out = ByteInterval{sizes[0], sizes[1]};
  }

  const Node& document_;
  std::string asked_;
  Diagnostics diagnostics_;
  EngineProfile engine_;
};

}  // namespace

EngineProfile load_engine(const std::string& path, std::string_view version) {
  const Node document = read_document(path);
  return EngineReader(document, version).read();
}

EngineProfile parse_engine(std::string_view text, std::string_view file_name,
                           std::string_view version) {
  const Node document = parse_document(text, file_name);
  return EngineReader(document, version).read();
}

}  // namespace floorline
