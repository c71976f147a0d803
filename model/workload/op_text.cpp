// SPDX-License-Identifier: Apache-2.0
#include "model/workload/op_text.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "model/input/diagnostic.hpp"
#include "model/quantity/unit_names.hpp"
#include "model/workload/default_precision.hpp"
#include "model/workload/op_expansion.hpp"

namespace floorline {

namespace {

constexpr const char* kFlag = "--op";

struct Word {
  std::string key;
  std::string value;
  Position key_at;
  Position value_at;
};

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n'; }

/// Splits at white space; each word with its column.
std::vector<std::pair<std::string_view, std::uint32_t>> split_words(std::string_view text) {
  std::vector<std::pair<std::string_view, std::uint32_t>> words;
  for (std::size_t i = 0; i < text.size();) {
    if (is_space(text[i])) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < text.size() && !is_space(text[end])) ++end;
    words.emplace_back(text.substr(i, end - i), static_cast<std::uint32_t>(i + 1));
    i = end;
  }
  return words;
}

const std::vector<std::string>& attribute_words() {
  static const std::vector<std::string> words{"in",      "weight",     "out",      "kv",
                                              "compute", "accumulate", "sparse",   "form",
                                              "path",    "access",     "algorithm"};
  return words;
}

class OpText {
 public:
  explicit OpText(std::string_view text) : text_(text) {}

  OperatorGraph parse() {
    read_words();
    diagnostics_.throw_if_any();
    read_keys();
    read_precisions();
    diagnostics_.throw_if_any();
    OpExpansion expansion(graph_, {in_, weight_, kv_, out_, compute_, accumulate_, sparse_}, at(1),
                          diagnostics_);
    if (form() == "naive") {
      if (is_unmasked_naive()) {
        expansion.naive_attention_unmasked();
      } else {
        expansion.naive_attention();
      }
    } else if (info_ == &moe_shorthand()) {
      expansion.mixture_of_experts();
    } else {
      build_one();
    }
    diagnostics_.throw_if_any();
    return std::move(graph_);
  }

 private:
  [[nodiscard]] static Position at(std::uint32_t column) { return position_in(kFlag, 1, column); }

  void read_words() {
    const auto words = split_words(text_);
    if (words.empty()) {
      diagnostics_.add(at(1), "",
                       "empty; expected KIND key=value …, such as gemm m=8192 n=8192 k=8192");
      return;
    }
    const std::string kind_name(words.front().first);
    const std::optional<OperatorKind> kind = operator_kind_from(kind_name);
    const bool is_moe = kind_name == moe_shorthand().name;
    if (!kind && !is_moe) {
      diagnostics_.add(at(words.front().second), "",
                       "\"" + kind_name + "\" is not an operator kind" +
                           did_you_mean(kind_name, operator_kind_names()));
      return;
    }
    if (kind == OperatorKind::fused) {
      diagnostics_.add(at(words.front().second), "",
                       "fused is a kind of graph files only (floorline fuse makes them)");
      return;
    }
    info_ = is_moe ? &moe_shorthand() : &info(*kind);
    graph_.name = kind_name;
    for (std::size_t i = 1; i < words.size(); ++i) read_word(words[i].first, words[i].second);
  }

  void read_word(std::string_view word, std::uint32_t column) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      diagnostics_.add(at(column), "", "\"" + std::string(word) + "\" is not key=value");
      return;
    }
    Word w{std::string(word.substr(0, equals)), std::string(word.substr(equals + 1)), at(column),
           at(column + static_cast<std::uint32_t>(equals) + 1)};
    if (given_.contains(w.key)) {
      diagnostics_.add(w.key_at, w.key, "given twice; expected each key once");
      return;
    }
    if (!is_known(w.key)) {
      diagnostics_.add(
          w.key_at, w.key,
          "is not a key of " + std::string(info_->name) + names_there_are(w.key, known_words()));
      return;
    }
    given_.emplace(w.key, w);
  }

  [[nodiscard]] std::vector<std::string> known_words() const {
    std::vector<std::string> words;
    for (const KeyInfo& key : info_->keys) words.emplace_back(name_of(key.key));
    for (const std::string& word : attribute_words()) {
      if (word == "form" && info_->kind != OperatorKind::attention) continue;
      if (word == "path" && info_->kind != OperatorKind::copy) continue;
      if (word == "access" && !has_access(info_->kind)) continue;
      if (word == "algorithm" && info_->kind != OperatorKind::conv) continue;
      words.push_back(word);
    }
    return words;
  }
  [[nodiscard]] bool is_known(const std::string& key) const {
    const std::vector<std::string> words = known_words();
    return std::find(words.begin(), words.end(), key) != words.end();
  }

  [[nodiscard]] std::string form() const {
    const auto found = given_.find("form");
    return found == given_.end() ? "fused" : found->second.value;
  }

  /// Bytes take a unit, FLOPs may be bare or with a unit, all else is a plain number.
  std::optional<double> number(Key key, const Word& word) {
    std::string expected = "expected a number";
    if (key == Key::causal && (word.value == "true" || word.value == "false")) {
      return word.value == "true" ? 1 : 0;
    }
    if (key == Key::bytes || key == Key::written_bytes) {
      const ParsedQuantity q = parse_quantity(word.value, Dimension::bytes);
      if (q.error.empty()) return std::round(q.base);
      diagnostics_.add(word.value_at, word.key, q.error);
      return std::nullopt;
    }
    if (key == Key::flops && info_->kind == OperatorKind::custom) {
      const ParsedQuantity q = parse_quantity(word.value, Dimension::flops);
      if (q.error.empty()) return q.base;
      diagnostics_.add(word.value_at, word.key, q.error);
      return std::nullopt;
    }
    if (key == Key::time) {
      const ParsedQuantity q = parse_quantity(word.value, Dimension::seconds);
      if (q.error.empty()) return q.base;
      diagnostics_.add(word.value_at, word.key, q.error);
      return std::nullopt;
    }
    const std::optional<double> value = parse_number(word.value);
    const bool per_element = key == Key::flops || key == Key::exps;
    if (value && *value >= 0 && (per_element || std::floor(*value) == *value)) return value;
    expected = per_element ? "expected a number from 0 up" : "expected a whole number from 0 up";
    diagnostics_.add(word.value_at, word.key,
                     "\"" + word.value + "\" is no such number; " + expected);
    return std::nullopt;
  }

  void read_keys() {
    for (const KeyInfo& key : info_->keys) {
      const std::string name(name_of(key.key));
      const auto found = given_.find(name);
      // Whole rows of scores are what they are: no symbol masks them afterwards.
      if (is_unmasked_naive() && (key.key == Key::causal || key.key == Key::window)) continue;
      if (found != given_.end()) {
        // A key that is wrong still is a symbol, so that no later message follows from it.
        graph_.set_symbol(name, number(key.key, found->second).value_or(1));
      } else if (key.required) {
        graph_.set_symbol(name, 1);
        diagnostics_.add(
            at(1), name,
            "missing; " + std::string(info_->name) + " needs it (" + key.meaning + ")");
      } else if (*key.fallback != '\0') {
        const Expression fallback =
            Expression::parse(key.fallback, graph_.symbols, at(1), name, diagnostics_);
        const double value = fallback.evaluate(graph_.symbol_values);
        graph_.set_symbol(name, value);
        // A number from here on: another value of the symbol it came from leaves it.
        graph_.assumptions.push_back(
            name + " = " +
            (fallback.constant() ? key.fallback
                                 : exact_text(value) + " (" + key.fallback + " as given)") +
            " (default)");
      }
    }
  }

  Precision precision(const char* word, Precision fallback, bool note) {
    const auto found = given_.find(word);
    if (found == given_.end()) {
      if (note && fallback != Precision::any) {
        graph_.assumptions.push_back(std::string(word) + " = " + std::string(name_of(fallback)) +
                                     " (default)");
      }
      return fallback;
    }
    const std::optional<Precision> p = precision_from(found->second.value);
    if (!p) {
      diagnostics_.add(found->second.value_at, word, not_a_precision(found->second.value));
      return fallback;
    }
    return *p;
  }

  [[nodiscard]] bool is_unmasked_naive() const {
    const auto says_zero = [this](const char* key) {
      const auto found = given_.find(key);
      return found != given_.end() && found->second.value == "0";
    };
    return form() == "naive" && says_zero("causal") &&
           (!given_.contains("window") || says_zero("window"));
  }

  [[nodiscard]] bool uses(DtypeFlag flag) const {
    const auto has = [flag](const std::vector<TensorTemplate>& tensors) {
      return std::any_of(tensors.begin(), tensors.end(),
                         [flag](const TensorTemplate& t) { return t.dtype == flag; });
    };
    return has(info_->inputs) || has(info_->outputs);
  }

  void read_precisions() {
    in_ = precision("in", Precision::bf16, uses(DtypeFlag::in) || uses(DtypeFlag::weight));
    weight_ = precision("weight", in_, uses(DtypeFlag::weight));
    kv_ = precision("kv", in_, uses(DtypeFlag::kv));
    const bool to_narrow = info_->kind == OperatorKind::quantize;
    out_ = precision("out", to_narrow ? Precision::fp8_e4m3 : in_, uses(DtypeFlag::out));
    for (const Precision p : {in_, weight_, kv_, out_}) {
      if (p == Precision::any) diagnostics_.add(at(1), "in", "storage cannot be \"any\"");
    }
    Precision second = uses(DtypeFlag::kv) ? kv_ : in_;
    if (uses(DtypeFlag::weight)) second = weight_;
    const Precision widest = info_->matrix && info_->kind != OperatorKind::custom
                                 ? widest_storage(in_, second)
                                 : Precision::any;
    compute_ = precision("compute", widest, true);
    accumulate_ = precision("accumulate", default_accumulate(compute_), info_->matrix);
    const auto sparse = given_.find("sparse");
    if (sparse != given_.end()) {
      sparse_ = sparse->second.value == "true" || sparse->second.value == "1";
      if (!sparse_ && sparse->second.value != "false" && sparse->second.value != "0") {
        diagnostics_.add(sparse->second.value_at, "sparse", "expected true or false");
      }
    }
    read_form_and_path();
  }

  void read_form_and_path() {
    if (form() != "fused" && form() != "naive") {
      diagnostics_.add(given_.at("form").value_at, "form",
                       "\"" + form() + "\" is not a form; expected fused or naive");
    }
    read_access();
    read_algorithm();
    if (info_->kind != OperatorKind::copy) return;
    const auto path = given_.find("path");
    if (path == given_.end()) {
      diagnostics_.add(at(1), "path", "missing; expected path=h2d, d2h or d2d");
      return;
    }
    for (const CopyPath p : {CopyPath::h2d, CopyPath::d2h, CopyPath::d2d}) {
      if (path->second.value == name_of(p)) {
        path_ = p;
        return;
      }
    }
    diagnostics_.add(path->second.value_at, "path",
                     "\"" + path->second.value + "\" is not a path; expected h2d, d2h or d2d");
  }

  void read_access() {
    const auto access = given_.find("access");
    if (access == given_.end()) return;
    const std::string wrong = access_from(access->second.value, given_.contains("stride"), access_);
    if (!wrong.empty()) diagnostics_.add(access->second.value_at, "access", wrong);
  }

  void read_algorithm() {
    const auto algorithm = given_.find("algorithm");
    if (algorithm == given_.end()) return;
    const std::string& value = algorithm->second.value;
    if (const auto a = conv_algorithm_from(value)) {
      algorithm_ = *a;
    } else {
      diagnostics_.add(algorithm->second.value_at, "algorithm",
                       "\"" + value + "\" is not one; expected any, direct or winograd");
    }
  }

  [[nodiscard]] Precision storage(DtypeFlag flag) const {
    switch (flag) {
      case DtypeFlag::in:
        return in_;
      case DtypeFlag::weight:
        return weight_;
      case DtypeFlag::out:
        return out_;
      case DtypeFlag::kv:
        return kv_;
      case DtypeFlag::bytes:
        return Precision::int8;
      case DtypeFlag::ids:
        return Precision::int32;
    }
    return in_;
  }

  Expression expression(const std::string& text) {
    return Expression::parse(text, graph_.symbols, at(1), "shape", diagnostics_);
  }

  TensorId add_tensor(const std::string& name, const std::vector<std::string>& shape,
                      Precision dtype, TensorRole role) {
    Tensor tensor;
    tensor.name = name;
    tensor.dtype = dtype;
    tensor.role = role;
    tensor.at = at(1);
    for (const std::string& dim : shape) tensor.shape.push_back(expression(dim));
    graph_.tensors.push_back(std::move(tensor));
    return static_cast<TensorId>(graph_.tensors.size() - 1);
  }

  TensorId add_tensor(const TensorTemplate& t, bool output) {
    const TensorRole role =
        output ? TensorRole::output : (t.weight ? TensorRole::weight : TensorRole::input);
    return add_tensor(t.name, {t.shape.begin(), t.shape.end()}, storage(t.dtype), role);
  }

  Operator operator_of(OperatorKind kind, const std::string& name) const {
    Operator op;
    op.kind = kind;
    op.name = name;
    op.compute = compute_;
    op.accumulate = accumulate_;
    op.sparse = sparse_;
    op.path = path_;
    op.access = access_;
    op.algorithm = algorithm_;
    op.at = at(1);
    return op;
  }

  void build_one() {
    Operator op = operator_of(info_->kind, info_->name);
    for (const TensorTemplate& t : info_->inputs) op.inputs.push_back(add_tensor(t, false));
    for (const TensorTemplate& t : info_->outputs) op.outputs.push_back(add_tensor(t, true));
    for (const KeyInfo& key : info_->keys) {
      if (!graph_.symbol(name_of(key.key))) continue;
      op.attributes.push_back({key.key, expression(std::string(name_of(key.key)))});
    }
    graph_.ops.push_back(std::move(op));
  }

  std::string_view text_;
  OperatorGraph graph_;
  Diagnostics diagnostics_;
  const KindInfo* info_ = nullptr;
  std::map<std::string, Word> given_;
  Precision in_ = Precision::bf16, weight_ = in_, kv_ = in_, out_ = in_;
  Precision compute_ = Precision::any, accumulate_ = Precision::any;
  bool sparse_ = false;
  CopyPath path_ = CopyPath::d2d;
  Access access_ = Access::regular;
  ConvAlgorithm algorithm_ = ConvAlgorithm::any;
};

}  // namespace

OperatorGraph parse_op_text(std::string_view text) { return OpText(text).parse(); }

}  // namespace floorline
