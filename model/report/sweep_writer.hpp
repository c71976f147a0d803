// SPDX-License-Identifier: Apache-2.0
// Rows of a sweep as text, chunk by chunk, so that memory does not grow with the number of points:
//   csv       one line a point; the header only in the first part
//   json      one document; the first part begins it, the last one ends it
//   columnar  one JSON object a line, an array a column, as many points as the chunk has
// Parts of a sharded sweep one after another are the whole (columnar: the same points, lines may
// break elsewhere).
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/report/document.hpp"
#include "model/sweep/sweep.hpp"

namespace floorline {

enum class SweepFormat : std::uint8_t { csv, json, columnar };

struct SweepHead {
  std::string workload;
  std::vector<std::string> devices;  ///< names, as rows count them
  std::vector<std::string> set;
  std::vector<std::string> grid;  ///< as typed
  bool model = false;
  std::vector<std::string> assumptions;
  std::vector<std::string> notes;
};

class SweepWriter {
 public:
  using Sink = std::function<void(std::string_view)>;
  SweepWriter(SweepFormat format, SweepHead head, const Grid& grid, Sink sink);

  /// What stands before the rows; only of the part that has the first point.
  void begin();
  void write(std::span<const SweepRow> rows);
  /// What stands behind them; only of the part that has the last point.
  void end();

 private:
  void csv_row(const SweepRow& row);
  void json_row(const SweepRow& row);
  void columns(std::span<const SweepRow> rows);
  std::string axis_value(std::size_t axis, bool json) const;

  SweepFormat format_;
  SweepHead head_;
  const Grid& grid_;
  Sink sink_;
  std::string text_;
  std::vector<std::uint64_t> digits_;
};

}  // namespace floorline
