// SPDX-License-Identifier: Apache-2.0
#include "validation/experiment/prediction.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "model/input/document_node.hpp"
#include "model/workload/graph_file.hpp"
#include "model/workload/op_text.hpp"

namespace floorline {

namespace {

std::string number(std::int64_t n) { return std::to_string(n); }
std::string word(std::string_view key, std::string_view value) {
  return " " + std::string(key) + "=" + std::string(value);
}
std::string word(std::string_view key, std::int64_t value) { return word(key, number(value)); }
std::string word(std::string_view key, Precision p) { return word(key, name_of(p)); }

std::string elementwise(const ExperimentSpec& spec, std::int64_t reads, std::int64_t flops) {
  return "elementwise" + word("n", spec.sizes.n) + word("reads", reads) + word("writes", 1) +
         word("flops", flops) + word("in", spec.precision.in) + word("out", spec.precision.out) +
         word("compute", spec.precision.compute);
}

std::string row_operator(const char* kind, const ExperimentSpec& spec) {
  return kind + word("rows", spec.sizes.rows) + word("cols", spec.sizes.cols) +
         word("in", spec.precision.in) + word("out", spec.precision.out) +
         word("compute", spec.precision.compute);
}

std::string product(const ExperimentSpec& spec, std::int64_t m) {
  const ExperimentPrecision& p = spec.precision;
  return "gemm" + word("m", m) + word("n", spec.sizes.n) + word("k", spec.sizes.k) +
         word("in", p.in) + word("weight", p.weight) + word("out", p.out) +
         word("compute", p.compute) + word("accumulate", p.accumulate);
}

std::string attention(const ExperimentSpec& spec, const char* form) {
  const ExperimentSizes& s = spec.sizes;
  return "attention" + word("batch", s.batch) + word("q_heads", s.heads) +
         word("kv_heads", s.heads) + word("q_len", s.q_len) + word("kv_len", s.kv_len) +
         word("head_dim", s.head_dim) + word("causal", s.causal) + word("form", form) +
         word("in", spec.precision.in) + word("out", spec.precision.out) +
         word("compute", spec.precision.compute) + word("accumulate", spec.precision.accumulate);
}

std::string transfer(const ExperimentSpec& spec, const char* path) {
  return "copy" + word("bytes", number(spec.sizes.bytes) + "B") + word("path", path);
}

/// A graph file in parts; every word in it is ours, so nothing needs quoting.
class GraphText {
 public:
  using Symbols = std::vector<std::pair<std::string, std::int64_t>>;
  explicit GraphText(const Symbols& symbols)
      : text_("schema = 1\nkind = \"graph\"\n\n[symbols]\n") {
    for (const auto& [name, value] : symbols) text_ += name + " = " + number(value) + "\n";
  }
  GraphText& tensor(const std::string& name, const std::string& shape, Precision dtype,
                    const std::string& role) {
    text_ += "\n[tensor." + name + "]\nshape = [" + shape + "]\ndtype = \"" +
             std::string(name_of(dtype)) + "\"\nrole = \"" + role + "\"\n";
    return *this;
  }
  /// `more` holds further lines of the operator.
  // NOLINTNEXTLINE(readability-function-size): an operator of a graph file, key by key
  GraphText& op(const std::string& name, const std::string& kind, const std::string& inputs,
                const std::string& output, Precision compute, const std::string& more = "") {
    text_ += "\n[[op]]\nname = \"" + name + "\"\nkind = \"" + kind + "\"\ninputs = [" + inputs +
             "]\noutputs = [\"" + output + "\"]\ncompute = \"" + std::string(name_of(compute)) +
             "\"\n" + more;
    return *this;
  }
  GraphText& lines(const std::string& more) {
    text_ += more;
    return *this;
  }
  [[nodiscard]] std::string text() const { return text_; }

 private:
  std::string text_;
};

constexpr const char* kRowShape = "\"rows\", \"cols\"";

void add_norm_tensors(GraphText& graph, const ExperimentPrecision& p) {
  graph.tensor("mean", "\"rows\"", Precision::fp32, "intermediate")
      .tensor("variance", "\"rows\"", Precision::fp32, "intermediate")
      .tensor("scale", "\"cols\"", p.weight, "weight")
      .tensor("shift", "\"cols\"", p.weight, "weight");
}

/// mean: n additions; variance: subtract, square, add; normalize: subtract, times the inverse
/// deviation, times scale, plus shift (workloads/layernorm_three_kernels.toml).
// NOLINTNEXTLINE(bugprone-easily-swappable-parameters): from, then to
void add_norm_operators(GraphText& graph, const std::string& from, const std::string& to,
                        Precision compute) {
  const std::string x = "\"" + from + "\"";
  graph.op("mean", "reduce", x, "mean", compute)
      .op("variance", "elementwise", x + ", \"mean\"", "variance", compute,
          "n = \"rows*cols\"\nflops = 3\n")
      .op("normalize", "elementwise", x + ", \"mean\", \"variance\", \"scale\", \"shift\"", to,
          compute, "flops = 4\n");
}

std::string layernorm_three(const ExperimentSpec& spec) {
  const ExperimentPrecision& p = spec.precision;
  GraphText graph({{"rows", spec.sizes.rows}, {"cols", spec.sizes.cols}});
  graph.tensor("x", kRowShape, p.in, "input");
  add_norm_tensors(graph, p);
  graph.tensor("y", kRowShape, p.out, "output");
  add_norm_operators(graph, "x", "y", p.compute);
  return graph.text();
}

std::string residual_norm(const ExperimentSpec& spec) {
  const ExperimentPrecision& p = spec.precision;
  GraphText graph({{"rows", spec.sizes.rows}, {"cols", spec.sizes.cols}});
  graph.tensor("x", kRowShape, p.in, "input")
      .tensor("skip", kRowShape, p.in, "input")
      .tensor("sum", kRowShape, p.in, "intermediate")
      .tensor("normal", kRowShape, p.in, "intermediate");
  add_norm_tensors(graph, p);
  graph.tensor("y", kRowShape, p.out, "output")
      .op("residual", "elementwise", "\"x\", \"skip\"", "sum", p.compute, "flops = 1\n");
  add_norm_operators(graph, "sum", "normal", p.compute);
  graph.op("dropout", "elementwise", "\"normal\"", "y", p.compute, "flops = 1\n");
  return graph.text();
}

/// Residual 1, LayerNorm 7, dropout 1 FLOP an element (workloads/residual_norm_dropout_fused.toml).
std::string residual_norm_one(const ExperimentSpec& spec) {
  const ExperimentPrecision& p = spec.precision;
  return GraphText({{"rows", spec.sizes.rows}, {"cols", spec.sizes.cols}})
      .tensor("x", kRowShape, p.in, "input")
      .tensor("skip", kRowShape, p.in, "input")
      .tensor("scale", "\"cols\"", p.weight, "weight")
      .tensor("shift", "\"cols\"", p.weight, "weight")
      .tensor("y", kRowShape, p.out, "output")
      .op("residual_norm_dropout", "elementwise", "\"x\", \"skip\", \"scale\", \"shift\"", "y",
          p.compute, "flops = 9\n")
      .text();
}

/// `count` kernels y = y + x, each of which reads the one before.
std::string launch_chain(const ExperimentSpec& spec) {
  const ExperimentPrecision& p = spec.precision;
  return GraphText({{"n", spec.sizes.n}, {"count", spec.sizes.count}})
      .tensor("x", "\"n\"", p.in, "input")
      .tensor("y", "\"n\"", p.out, "output")
      .op("kernel", "elementwise", "\"x\"", "y", p.compute, "flops = 1\n")
      .lines("\n[[repeat]]\nname = \"chain\"\ntimes = \"count\"\nops = [\"kernel\"]\n")
      .text();
}

/// All pieces together: copied in, y = 2 x + 1, copied out. The fused floor is what perfect overlap
/// would reach, the serial floor what one stream cannot beat.
std::string overlap(const ExperimentSpec& spec) {
  return GraphText({{"n", spec.sizes.bytes / 4}})
      .tensor("host_x", "\"n\"", Precision::fp32, "input")
      .tensor("x", "\"n\"", Precision::fp32, "intermediate")
      .tensor("y", "\"n\"", Precision::fp32, "intermediate")
      .tensor("host_y", "\"n\"", Precision::fp32, "output")
      .op("copy_in", "copy", "\"host_x\"", "x", Precision::fp32, "path = \"h2d\"\n")
      .op("work", "elementwise", "\"x\"", "y", Precision::fp32, "flops = 2\n")
      .op("copy_out", "copy", "\"y\"", "host_y", Precision::fp32, "path = \"d2h\"\n")
      .text();
}

std::string one_operator(const ExperimentSpec& spec) {
  const ExperimentSizes& s = spec.sizes;
  switch (spec.kind) {
    case ExperimentKind::copy:
      return elementwise(spec, 1, 0);
    case ExperimentKind::triad:
      return elementwise(spec, 2, 2);
    case ExperimentKind::vector_add:
      return elementwise(spec, 2, 1);
    case ExperimentKind::strided:
      return elementwise(spec, 1, 0) + word("stride", s.stride);
    case ExperimentKind::gather:
      return "gather" + word("rows", s.rows) + word("cols", 1) + word("count", s.n) +
             word("distinct", std::min(s.n, s.rows)) + word("in", spec.precision.in) +
             word("out", spec.precision.out);
    case ExperimentKind::atomic_sum:
    case ExperimentKind::two_stage_sum:
      return "reduce rows=1" + word("cols", s.n) + word("in", spec.precision.in) +
             word("out", spec.precision.out) + word("compute", spec.precision.compute);
    case ExperimentKind::layernorm:
      return row_operator("layernorm", spec) + word("weight", spec.precision.weight);
    case ExperimentKind::softmax:
      return row_operator("softmax", spec);
    case ExperimentKind::gemm:
      return product(spec, s.m);
    case ExperimentKind::gemv:
      return product(spec, 1);
    case ExperimentKind::attention_naive:
      return attention(spec, "naive");
    case ExperimentKind::attention_tiled:
      return attention(spec, "fused");
    case ExperimentKind::dependency_chain:
    case ExperimentKind::independent_work:
      return elementwise(spec, 1, 2 * s.count);
    case ExperimentKind::h2d:
      return transfer(spec, "h2d");
    case ExperimentKind::d2h:
      return transfer(spec, "d2h");
    case ExperimentKind::peer_copy:
      return "send_recv" + word("bytes", number(s.bytes) + "B") + word("ranks", 2);
    case ExperimentKind::all_reduce:
      return "all_reduce" + word("bytes", number(s.bytes) + "B") + word("ranks", s.ranks);
    default:
      return "";
  }
}

}  // namespace

std::string prediction_text(const ExperimentSpec& spec) {
  switch (spec.kind) {
    case ExperimentKind::launch_chain:
      return launch_chain(spec);
    case ExperimentKind::layernorm_three:
      return layernorm_three(spec);
    case ExperimentKind::residual_norm:
      return residual_norm(spec);
    case ExperimentKind::residual_norm_one:
      return residual_norm_one(spec);
    case ExperimentKind::overlap:
      return overlap(spec);
    default:
      return one_operator(spec);
  }
}

OperatorGraph prediction_graph(const ExperimentSpec& spec) {
  const std::string text = prediction_text(spec);
  if (!text.starts_with("schema")) return parse_op_text(text);
  return read_graph(parse_toml(text, spec.name));
}

}  // namespace floorline
