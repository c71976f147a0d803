// SPDX-License-Identifier: Apache-2.0
// What a router decides, as numbers: how many distinct experts a rank reads, how many ranks a token
// visits. T tokens of the whole group of p = ep ranks, each with k = top_k of E = experts.
//
// Distinct experts that a rank reads:
//   least    all tokens may pick the same k experts: some rank holds ⌈k/p⌉ of them, the mean is k/p
//   uniform  a given expert is missed by one token with probability 1 − k/E, by all with (1 −
//   k/E)^T:
//            (E/p)·(1 − (1 − k/E)^T), exact for tokens that pick apart, each set of k equally
//            likely
//   all      min(E/p, T·k)
// E = 256, k = 8: 57.4, 102.0, 163.3, 222.4 distinct experts at 8, 16, 32, 64 tokens.
// Bytes and times are convex in the number of experts, so the floor at its mean is below the mean
// of the floors (Jensen): `uniform` bounds the mean step from below; one step may be faster.
//
// Other ranks that a token visits (it is sent to each once, however many of its experts are there):
//   least    0
//   uniform  a given rank holds none of its experts with probability C(E − E/p, k) / C(E, k);
//            (p − 1)·(1 − that). Some other rank at all: 1 − C(E/p, k) / C(E, k)
//   all      min(k, p − 1)
// The key `distinct` states either number and replaces all three.
// Not modelled: group-limited routing (fewer nodes a token), replicated experts, capacity limits.
#pragma once

#include <optional>

#include "model/demand/input_reads.hpp"
#include "model/workload/bound_graph.hpp"

namespace floorline {

struct ExpertCounts {
  double least = 0;
  double uniform = 0;
  double all = 0;
};

/// True where a router decides and nobody stated what it does: dispatch, combine, grouped_gemm.
bool is_routed(const BoundOperator& op);
bool is_routed(const BoundGraph& graph);

/// Distinct experts that the busiest rank of a grouped_gemm reads; absent for other kinds and where
/// the number is given.
std::optional<ExpertCounts> expert_counts(const BoundGraph& graph, const BoundOperator& op);

}  // namespace floorline
