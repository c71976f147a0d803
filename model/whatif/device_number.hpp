// SPDX-License-Identifier: Apache-2.0
// One number of a device by its key, as the change of it needs it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/device/device.hpp"
#include "model/device/rates.hpp"
#include "model/quantity/unit_names.hpp"

namespace floorline {

struct DeviceNumber {
  bool found = false;   ///< the format has such a key
  bool stated = false;  ///< and the device a value
  bool number = false;  ///< no word, no boolean
  std::string text;
  double base = 0;
  std::optional<Dimension> dimension;  ///< absent: a plain number
};

/// `rate.UNIT.IN.ACC` as a whole is the nominal rate at these clocks.
DeviceNumber device_number(const DeviceSpec& device, const ClockChoice& clocks,
                           std::string_view key);

/// For people, by the unit of the dimension.
std::string base_text(double base, Dimension dimension);

}  // namespace floorline
