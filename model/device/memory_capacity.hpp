// SPDX-License-Identifier: Apache-2.0
// Does it fit? Bytes against the memory of a device: what its driver leaves, else what the board
// has. Against the upper end of the capacity, so that "does not fit" is sound; fragmentation and
// the runtime's own memory are not counted.
#pragma once

#include <optional>

#include "model/device/device.hpp"

namespace floorline {

[[nodiscard]] bool states_capacity(const DeviceSpec& device);
/// The capacity that `needed` is beyond; nothing where it fits or the capacity is not stated.
std::optional<Bytes> exceeded_capacity(const DeviceSpec& device, Bytes needed);

}  // namespace floorline
