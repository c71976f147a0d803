// SPDX-License-Identifier: Apache-2.0
#include "model/timeline/pipeline.hpp"

#include <utility>

namespace floorline {

PoolId Pipeline::add(Pool pool) {
  pools.push_back(std::move(pool));
  return PoolId(static_cast<std::uint32_t>(pools.size() - 1));
}

StageId Pipeline::add(Stage stage) {
  stages.push_back(std::move(stage));
  return StageId(static_cast<std::uint32_t>(stages.size() - 1));
}

Seconds Pipeline::time_of(StageId stage, std::int64_t item) const {
  return stages[index_of(stage)].time.of(item) / pool_of(stage).scaling_efficiency;
}

std::string_view word(PoolKind kind) {
  switch (kind) {
    case PoolKind::cpu:
      return "cpu";
    case PoolKind::host:
      return "host";
    case PoolKind::h2d:
      return "h2d";
    case PoolKind::d2h:
      return "d2h";
    case PoolKind::gpu:
      return "gpu";
    case PoolKind::link:
      return "link";
    case PoolKind::network:
      return "network";
    case PoolKind::storage:
      return "storage";
    case PoolKind::other:
      return "other";
  }
  return "other";
}

}  // namespace floorline
