// SPDX-License-Identifier: Apache-2.0
// What `floorline calibrate --line` prints.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/evaluate.hpp"
#include "model/report/document.hpp"
#include "validation/calibration/line_fit.hpp"

namespace floorline {

struct LineReport {
  std::string file;
  std::string measured;  ///< column
  AmountKind kind = AmountKind::bytes;
  std::vector<MeasuredPoint> points;
  MeasuredLine fit;
  const Machine* machine = nullptr;
  ResourceId resource{Unit::hbm};    ///< whose ceiling R may not exceed
  std::vector<ResourceId> together;  ///< of a rate that two units share: both
  std::optional<AmountPerSecond> ceiling;
  std::optional<AmountPerSecond> nominal;
  std::optional<Amount> more_than;  ///< 2 S_keep
  std::vector<std::string> notes;
};

Document line_document(const LineReport& report);

}  // namespace floorline
