// SPDX-License-Identifier: Apache-2.0
#include "model/device/memory_capacity.hpp"

namespace floorline {

std::optional<Bytes> exceeded_capacity(const DeviceSpec& device, Bytes needed) {
  const MaybeSourced<Bytes>& capacity =
      device.hbm.driver_capacity ? device.hbm.driver_capacity : device.hbm.capacity;
  if (!capacity || needed <= capacity->upper()) return std::nullopt;
  return capacity->value;
}

}  // namespace floorline
