// SPDX-License-Identifier: Apache-2.0
// What a whole device has to satisfy, whatever file, base or flag its numbers came from.
#pragma once

#include "model/device/device.hpp"

namespace floorline {

class Diagnostics;

/// Sources that exist, clocks that are there, amounts that a device could have, whole counts.
void check_device(const DeviceSpec& device, const Position& at, Diagnostics& diagnostics);
/// Of these the amounts alone.
void check_magnitudes(const DeviceSpec& device, Diagnostics& diagnostics);

}  // namespace floorline
