// SPDX-License-Identifier: Apache-2.0
#include "model/workload/operator_agreement.hpp"

#include <cmath>

namespace floorline {

namespace {

constexpr double kMostExperts = 1048576;
constexpr double kLargestWhole = 9007199254740992.0;

class Agreement {
 public:
  Agreement(const BoundGraph& graph, const BoundOperator& op) : graph_(graph), op_(op) {}

  [[nodiscard]] const char* wrong() const {
    for (const Key flag : {Key::causal, Key::gated, Key::delta, Key::initial}) {
      const double value = key(flag, 0);
      if (value != 0 && value != 1) return "causal, gated, delta and initial are 0 or 1";
    }
    if (key(Key::ranks, 1) < 1) return "ranks is below 1; expected the ranks of the group";
    switch (op_.kind) {
      case OperatorKind::conv:
        return wrong_conv();
      case OperatorKind::grouped_gemm: {
        const char* routing = wrong_routing();
        return routing != nullptr ? routing : wrong_grouped();
      }
      case OperatorKind::dispatch:
      case OperatorKind::combine:
        return wrong_routing();
      case OperatorKind::ssm_scan:
        return is_multiple(key(Key::heads, 1), key(Key::groups, 1))
                   ? nullptr
                   : "heads is no multiple of groups; expected equal groups";
      case OperatorKind::elementwise:
      case OperatorKind::gather:
      case OperatorKind::scatter:
        return is_count(key(Key::stride, 1)) ? nullptr : "stride is no count; expected 1, 2, 3…";
      default:
        return nullptr;
    }
  }

 private:
  [[nodiscard]] double key(Key key, double fallback) const {
    const double value = op_.attributes[static_cast<std::size_t>(key)];
    return std::isnan(value) ? fallback : value;
  }
  static bool is_count(double x) { return x >= 1 && x <= kLargestWhole && std::floor(x) == x; }
  static bool is_multiple(double whole, double part) {
    return is_count(part) && std::fmod(whole, part) == 0;
  }
  [[nodiscard]] const BoundTensor& tensor(const TensorUse& use) const {
    return graph_.tensors[static_cast<std::size_t>(use.tensor)];
  }

  [[nodiscard]] const char* wrong_routing() const {
    const double experts = key(Key::experts, 1);
    if (!is_count(experts) || experts > kMostExperts)
      return "experts is out of range; expected 1 to 1048576";
    if (key(Key::top_k, 1) > experts)
      return "top_k is above experts; expected distinct experts a token";
    if (!is_multiple(experts, key(Key::ep, 1)))
      return "experts is no multiple of ep; expected as many on each rank";
    return nullptr;
  }

  [[nodiscard]] const char* wrong_grouped() const {
    const double mean = key(Key::tokens, 0) * key(Key::top_k, 1) / key(Key::ep, 1);
    const double rows = key(Key::rows, std::ceil(mean));
    const double local = key(Key::local_experts, key(Key::experts, 1) / key(Key::ep, 1));
    const double k = key(Key::k, op_.input_count > 0 ? tensor(graph_.inputs(op_)[0]).last_dim : 0);
    double columns = 0;
    for (int i = 1; i < op_.input_count; ++i) {
      const BoundTensor& t = tensor(graph_.inputs(op_)[static_cast<std::size_t>(i)]);
      const bool weight = t.role != TensorRole::intermediate && t.role != TensorRole::scale;
      if (weight && local * k > 0) columns += t.elements / (local * k);
    }
    double out = 0;
    for (const TensorUse& use : graph_.outputs(op_)) out += tensor(use).elements;
    return columns * rows == out || columns == 0
               ? nullptr
               : "the tensors do not agree with the keys; expected ceil(tokens*top_k/ep) rows in "
                 "the "
                 "output and weights of local_experts x k x columns";
  }

  [[nodiscard]] double outputs(double size, double filter) const {
    const double span = key(Key::dilation, 1) * (filter - 1) + 1;
    return std::floor((size + 2 * key(Key::pad, 0) - span) / key(Key::stride, 1)) + 1;
  }

  [[nodiscard]] const char* wrong_conv() const {
    if (!is_count(key(Key::stride, 1)) || !is_count(key(Key::dilation, 1))) {
      return "stride or dilation is no count; expected 1, 2, 3…";
    }
    const double groups = key(Key::groups, 1);
    if (!is_multiple(key(Key::c, 0), groups) || !is_multiple(key(Key::k, 0), groups)) {
      return "c or k is no multiple of groups; expected equal groups of channels";
    }
    const double rows = outputs(key(Key::h, 0), key(Key::r, 0));
    const double cols = outputs(key(Key::w, 0), key(Key::s, 0));
    double out = 0;
    for (const TensorUse& use : graph_.outputs(op_)) out += tensor(use).elements;
    if (rows >= 0 && cols >= 0 && out == key(Key::n, 0) * key(Key::k, 0) * rows * cols)
      return nullptr;
    return "the output does not agree with the keys; expected n x k x (floor((h + 2 pad - dilation "
           "(r "
           "- 1) - 1) / stride) + 1) x likewise for w and s";
  }

  const BoundGraph& graph_;
  const BoundOperator& op_;
};

}  // namespace

const char* contradiction(const BoundGraph& graph, const BoundOperator& op) {
  return Agreement(graph, op).wrong();
}

}  // namespace floorline
