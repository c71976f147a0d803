// SPDX-License-Identifier: Apache-2.0
// A grid of any variables, evaluated point by point and handed on in chunks: by the very calls that
// `bound` makes, evaluate(), reevaluate() and evaluate_model(), so that a point equals what bound
// says.
//   symbols of the graph   new numbers for a graph that is bound once: operators that no moved
//   symbol
//                          touches keep their floors, nothing is allocated
//   all else               (tp, precisions, device keys, devices) the graph is built once for each
//                          combination of these values and kept, up to kKept of them
//   models with pipeline stages, phase=generate and phase=train take a whole evaluation a point
// A point that cannot be (tp that does not divide, a rate that the device lacks) is a row with its
// reason. Memory does not grow with the number of points.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/evaluate_model.hpp"
#include "model/sweep/grid.hpp"

namespace floorline {

struct SweepSubject {
  std::optional<OperatorGraph> graph;  ///< one of the two
  std::optional<ModelWorkload> model;
};

struct SweepModelValues {
  Seconds step{0};
  double tokens_per_s_ceiling = 0;
  Bytes resident{0};            ///< weights and state of a rank, as ModelFloors has it
  std::optional<bool> exceeds;  ///< the device's memory; absent: its capacity is not stated
};

struct SweepValues {
  ResidencyTimes fused, critical_path, serial;
  ResourceId binding;        ///< with the largest share of the serial cold floor
  ResourceId fused_binding;  ///< of the fused cold floor
  bool bound = false;        ///< there is work at all
  bool any_known = true;
  bool proven = true;
  std::optional<SweepModelValues> model;
};

struct SweepRow {
  std::uint64_t point = 0;
  std::uint64_t device = 0;
  SweepValues values;
  std::string reason;  ///< why the point cannot be; empty: it can
};

class Sweep {
 public:
  /// Throws InputError: names that neither the workload nor a device file has.
  Sweep(SweepSubject subject, std::vector<DeviceSpec> devices, const ClockChoice& clocks,
        Grid grid);
  ~Sweep();
  Sweep(const Sweep&) = delete;
  Sweep& operator=(const Sweep&) = delete;

  static constexpr std::size_t kChunk = 4096;
  static constexpr std::size_t kKept = 256;  ///< builds

  [[nodiscard]] const Grid& grid() const { return grid_; }
  /// Rows in order, at most kChunk at a time. `take` returns false to stop.
  void run(PointRange points, const std::function<bool(std::span<const SweepRow>)>& take);

 private:
  struct Build;
  enum class AxisKind : std::uint8_t { symbol, rebuild };
  void classify();
  [[nodiscard]] bool is_symbol(const GridAxis& axis) const;
  Build& build_for(std::uint64_t device, std::uint64_t key);
  std::unique_ptr<Build> make_build(std::uint64_t device) const;
  void make_graph_build(Build& build) const;
  void make_model_build(Build& build) const;
  void evaluate_point(SweepRow& row);
  void evaluate_symbols(Build& build, SweepRow& row);
  void evaluate_whole(const Build& build, SweepRow& row) const;
  [[nodiscard]] std::uint64_t build_key(std::uint64_t device) const;
  [[nodiscard]] ModelWorkload model_at(Diagnostics& diagnostics) const;

  SweepSubject subject_;
  std::vector<DeviceSpec> devices_;
  ClockChoice clocks_;
  Grid grid_;
  std::vector<AxisKind> kinds_;
  std::vector<std::uint64_t> digits_;
  std::vector<std::pair<std::uint64_t, std::unique_ptr<Build>>> builds_;
  Build* last_ = nullptr;
  std::uint64_t last_key_ = 0;
};

}  // namespace floorline
