// SPDX-License-Identifier: Apache-2.0
// Bytes that a collective over p ranks must send and receive on each rank's links, each direction
// apart (design §5; Chan, Heimlich, Purkayastha, van de Geijn 2007 for the endpoint bounds):
//   collective       out of a rank                        into a rank
//   all_reduce       2(p−1)/p·S at endpoints (S with       2(p−1)/p·S at endpoints; S where the
//                    multicast); S where the fabric reduces   fabric reduces
//   all_gather       S/p with multicast, else (p−1)/p·S   (p−1)/p·S     S: the whole output
//   reduce_scatter   (p−1)/p·S       S/p if the fabric reduces, else (p−1)/p·S    S: whole input
//   all_to_all       (p−1)/p·S                            (p−1)/p·S     S: one rank's buffer
//   broadcast        S at the root                        S elsewhere
//   send_recv        S                                    S
// With two ranks the fabric cannot help an all_reduce below S, and 2(p−1)/p·S = S: the same.
// Ranks beyond devices_per_node cross the network. The same table holds for the cut between nodes,
// with one part a node and the sum of its devices' links; the amount is given per device. Only that
// cut is counted then (weaker than the largest of all cuts): a device's own cut has its peer and
// network links in parallel.
// HBM: a rank reads what it sends in the end and writes what it did not have:
//   all_reduce S, S · all_gather S/p, (p−1)/p·S · reduce_scatter S, S/p · all_to_all (p−1)/p·S
//   twice broadcast, send_recv: the root reads S, another writes S; the larger of the two ranks: S.
// Naive "in + out" is wrong for the last two and for a rank's own part.
// F: none is counted: who sums is the fabric's choice. Latency is not part of a floor.
#include <algorithm>
#include <cmath>

#include "model/demand/operator_view.hpp"

namespace floorline {

namespace {

struct PerRank {
  double out = 0;
  double in = 0;
};

/// The table above for p parts and S bytes.
PerRank link_bytes(OperatorKind kind, double p, double s, const OnChip& chip) {
  const double part = s / p;
  const double rest = s - part;
  switch (kind) {
    case OperatorKind::all_reduce: {
      const double shared = std::min(s, 2 * rest);
      if (chip.in_network_reduction_possible) return {shared, shared};
      return {chip.multicast_possible ? shared : 2 * rest, 2 * rest};
    }
    case OperatorKind::all_gather:
      return {chip.multicast_possible ? part : rest, rest};
    case OperatorKind::reduce_scatter:
      return {rest, chip.in_network_reduction_possible ? part : rest};
    case OperatorKind::all_to_all:
      return {rest, rest};
    default:
      return {s, s};
  }
}

void hbm_bytes(OperatorKind kind, double p, double s, Demand& demand) {
  const double part = s / p;
  const double rest = s - part;
  double read = s;
  double write = s;
  switch (kind) {
    case OperatorKind::all_gather:
      read = part;
      write = rest;
      break;
    case OperatorKind::reduce_scatter:
      write = part;
      break;
    case OperatorKind::all_to_all:
      read = rest;
      write = rest;
      break;
    case OperatorKind::broadcast:
    case OperatorKind::send_recv:
      read = 0;
      break;
    default:
      break;
  }
  demand.hbm_read = Bytes(read);
  demand.hbm_write = Bytes(write);
}

/// S from the key, or from the tensors when a graph file leaves it to them.
double message_bytes(const OperatorView& op, double ranks) {
  const double in = op.input_count() > 0 ? op.input(0).bytes.in_base_units() : 0;
  const double whole = op.op().kind == OperatorKind::all_gather ? in * ranks : in;
  return op.key(Key::bytes, whole);
}

}  // namespace

void collective_demand(const OperatorView& op, const OnChip& chip, Demand& demand) {
  const OperatorKind kind = op.op().kind;
  const double ranks = std::max(1.0, op.key(Key::ranks, kind == OperatorKind::send_recv ? 2 : 1));
  const double s = message_bytes(op, ranks);
  demand.hbm_read = demand.hbm_write = Bytes(0);
  if (ranks == 1) return;
  hbm_bytes(kind, ranks, s, demand);
  const bool crosses = chip.devices_per_node > 0 && ranks > chip.devices_per_node;
  if (!crosses) {
    const PerRank bytes = link_bytes(kind, ranks, s, chip);
    demand.add({Unit::peer_out}, Amount(Bytes(bytes.out)));
    demand.add({Unit::peer_in}, Amount(Bytes(bytes.in)));
    return;
  }
  const double devices = chip.devices_per_node;
  const double nodes = std::ceil(ranks / devices);
  // One rank's buffer in an all_to_all is 1/devices of what its node exchanges.
  const double node_s = kind == OperatorKind::all_to_all ? s * devices : s;
  // What the peer fabric can do says nothing of the network: there both are taken as possible.
  OnChip network = chip;
  network.in_network_reduction_possible = network.multicast_possible = true;
  const PerRank bytes = link_bytes(kind, nodes, node_s, network);
  demand.add({Unit::net_out}, Amount(Bytes(bytes.out / devices)));
  demand.add({Unit::net_in}, Amount(Bytes(bytes.in / devices)));
}

}  // namespace floorline
