// SPDX-License-Identifier: Apache-2.0
// Demand of what a router decides; the counts are derived in routed.hpp. Per rank:
//   grouped_gemm  F = 2 · (elements of the output) · k. Its T·top_k/ep rows are the mean of the
//                 group's ranks, so some rank has as many, whatever the data; where that is not
//                 whole the shapes carry ⌈…⌉ rows and F the mean. Bytes: rows in, rows out, and the
//                 distinct experts' weights. Naive "inputs + outputs" reads every expert's weights;
//                 a naive F counts every expert for every token.
//   dispatch      on links: each of the rank's T/ep tokens once to each other rank it visits (out:
//   once
//                 if the fabric multicasts), as many in on average. HBM: a token that leaves is
//                 read, one that arrives is written; what stays is gathered by the product: no
//                 bytes.
//   combine       on links the way back: one partial sum from each other rank a token visited (in:
//   one
//                 if the fabric reduces). HBM: the experts' rows read, one row a token written.
//                 F: multiply and add, (2·rows − tokens) · hidden.
// More ranks than devices_per_node: only the cut between nodes is counted, as for collectives.
// DeepSeek-V3 (2024) §3.2 describes both exchanges. Not modelled: latency, padding to capacity, the
// weights and indices that travel with a token, group-limited routing.
#include "model/demand/routed.hpp"

#include <algorithm>
#include <cmath>

#include "model/demand/operator_view.hpp"

namespace floorline {

namespace {

struct Routed {
  double tokens;  ///< of all ranks
  double top_k;
  double experts;  ///< of all ranks
  double ep;
};

Routed routed(const OperatorView& op) {
  const double ep = std::max(1.0, op.key(Key::ep, 1));
  return {op.key(Key::tokens, 0), op.key(Key::top_k, 1), op.key(Key::experts, 1), ep};
}

bool is_given(const OperatorView& op) { return op.key(Key::distinct, -1) >= 0; }

double local_experts(const OperatorView& op, const Routed& r) {
  return op.key(Key::local_experts, r.experts / r.ep);
}

double least_experts(const Routed& r, RankShare share) {
  if (!(r.tokens > 0)) return 0;
  const double mean = r.top_k / r.ep;
  return share == RankShare::mean ? mean : std::ceil(mean);
}

double uniform_experts(const Routed& r, RankShare share) {
  if (!(r.tokens > 0) || !(r.experts > 0)) return 0;
  const double missed = std::pow(std::max(0.0, 1 - r.top_k / r.experts), r.tokens);
  const double mean = r.experts / r.ep * (1 - missed);
  return share == RankShare::mean ? mean : std::max(mean, least_experts(r, share));
}

double experts_read(const OperatorView& op, RankShare share) {
  const Routed r = routed(op);
  const double local = local_experts(op, r);
  if (is_given(op))
    return std::min(
        {op.key(Key::distinct, 0), local, op.key(Key::tokens, 0) * op.key(Key::top_k, 1)});
  switch (op.graph().routing) {
    case Routing::least:
      return std::min(local, least_experts(r, share));
    case Routing::uniform:
      return std::min(local, uniform_experts(r, share));
    case Routing::all:
      return std::min(local, r.tokens * r.top_k);
  }
  return 0;
}

/// Probability that none of a token's experts is among `some` of them: C(E − some, k) / C(E, k).
double probability_of_none(const Routed& r, double some) {
  double p = 1;
  for (double i = 0; i < r.top_k && p > 0; ++i) {
    p *= std::max(0.0, r.experts - some - i) / std::max(1.0, r.experts - i);
  }
  return p;
}

/// Where a token goes when the experts lie in `parts` equal parts, its own left out.
struct Visits {
  double others = 0;  ///< parts
  double any = 0;     ///< 1 if there is one at all
};

Visits visits(const OperatorView& op, double parts) {
  const Routed r = routed(op);
  if (parts <= 1 || !(r.tokens > 0)) return {};
  if (is_given(op)) {
    const double others = std::min(op.key(Key::distinct, 0), parts - 1);
    return {others, std::min(1.0, others)};
  }
  switch (op.graph().routing) {
    case Routing::least:
      return {};
    case Routing::uniform: {
      const double part = r.experts / parts;
      return {(parts - 1) * (1 - probability_of_none(r, part)),
              1 - probability_of_none(r, r.experts - part)};
    }
    case Routing::all:
      return {std::min(r.top_k, parts - 1), 1};
  }
  return {};
}

struct Links {
  Visits visits;
  Unit out = Unit::peer_out;
  Unit in = Unit::peer_in;
  bool fabric_helps = true;  ///< multicast on the way there, reduction on the way back
};

Links links(const OperatorView& op, double ep, bool fabric_helps, const OnChip& chip) {
  const bool crosses = chip.devices_per_node > 0 && ep > chip.devices_per_node;
  if (!crosses) return {visits(op, ep), Unit::peer_out, Unit::peer_in, fabric_helps};
  // What the peer fabric can do says nothing of the network: there it is taken as possible.
  return {visits(op, std::ceil(ep / chip.devices_per_node)), Unit::net_out, Unit::net_in, true};
}

Bytes token_bytes(const OperatorView& op, const BoundTensor& tensor) {
  return Bytes(op.key(Key::hidden, tensor.last_dim) * storage_bits(tensor.dtype) / 8.0);
}

}  // namespace

bool is_routed(const BoundOperator& op) {
  switch (op.kind) {
    case OperatorKind::grouped_gemm:
    case OperatorKind::dispatch:
    case OperatorKind::combine:
      return std::isnan(op.attributes[static_cast<std::size_t>(Key::distinct)]);
    default:
      return false;
  }
}

bool is_routed(const BoundGraph& graph) {
  return std::any_of(graph.ops.begin(), graph.ops.end(),
                     [](const BoundOperator& op) { return is_routed(op); });
}

std::optional<ExpertCounts> expert_counts(const BoundGraph& graph, const BoundOperator& op) {
  if (op.kind != OperatorKind::grouped_gemm || !is_routed(op)) return std::nullopt;
  const OperatorView view(graph, op);
  const Routed r = routed(view);
  const double local = local_experts(view, r);
  return ExpertCounts{std::min(local, least_experts(r, RankShare::busiest)),
                      std::min(local, uniform_experts(r, RankShare::busiest)),
                      std::min(local, r.tokens * r.top_k)};
}

double expert_read_fraction(const OperatorView& op, RankShare share) {
  const double local = local_experts(op, routed(op));
  return local > 0 ? experts_read(op, share) / local : 0;
}

void grouped_gemm_demand(const OperatorView& op, Demand& demand) {
  const Routed r = routed(op);
  const double mean = r.tokens * r.top_k / r.ep;
  const double whole = std::ceil(mean);
  const bool shapes_round_up = whole > mean && op.key(Key::rows, whole) == whole;
  const double k = op.key(Key::k, op.input(0).last_dim);
  demand.flops = Flops(2 * op.output_elements() * k * (shapes_round_up ? mean / whole : 1));
  demand.add(op.matrix_unit(), Amount(demand.flops));
}

void dispatch_demand(const OperatorView& op, const OnChip& chip, Demand& demand) {
  demand.hbm_read = demand.hbm_write = Bytes(0);
  const Routed r = routed(op);
  if (r.ep <= 1 || op.input_count() < 1) return;
  const Bytes own = token_bytes(op, op.input(0)) * (r.tokens / r.ep);
  const Visits ranks = visits(op, r.ep);
  demand.hbm_read = own * ranks.any;
  demand.hbm_write = own * ranks.others;
  const Links l = links(op, r.ep, chip.multicast_possible, chip);
  demand.add({l.out}, Amount(own * (l.fabric_helps ? l.visits.any : l.visits.others)));
  demand.add({l.in}, Amount(own * l.visits.others));
}

void combine_demand(const OperatorView& op, const OnChip& chip, Demand& demand) {
  const double rows = op.input_count() > 0 ? op.input(0).elements : 0;
  const double sums = op.output_elements();
  demand.flops = Flops(std::max(0.0, 2 * rows - sums));
  demand.add(op.linear_unit(), Amount(demand.flops));
  const Routed r = routed(op);
  if (r.ep <= 1 || op.output_count() < 1) return;
  const Bytes own = token_bytes(op, op.output(0)) * (r.tokens / r.ep);
  const Links l = links(op, r.ep, chip.in_network_reduction_possible, chip);
  demand.add({l.out}, Amount(own * l.visits.others));
  demand.add({l.in}, Amount(own * (l.fabric_helps ? l.visits.any : l.visits.others)));
}

}  // namespace floorline
