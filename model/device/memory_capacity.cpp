// SPDX-License-Identifier: Apache-2.0
#include "model/device/memory_capacity.hpp"

namespace floorline {

namespace {

const MaybeSourced<Bytes>& capacity_of(const DeviceSpec& device) {
  return device.hbm.driver_capacity ? device.hbm.driver_capacity : device.hbm.capacity;
}

}  // namespace

bool states_capacity(const DeviceSpec& device) { return static_cast<bool>(capacity_of(device)); }

std::optional<Bytes> exceeded_capacity(const DeviceSpec& device, Bytes needed) {
  const MaybeSourced<Bytes>& capacity = capacity_of(device);
  if (!capacity || needed <= capacity->upper()) return std::nullopt;
  return capacity->value;
}

}  // namespace floorline
