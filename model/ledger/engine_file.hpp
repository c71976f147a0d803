// SPDX-License-Identifier: Apache-2.0
// Engine profiles (TOML, kind = "engine"): workloads/LEDGERS.md tells the keys.
#pragma once

#include <string>
#include <string_view>

#include "model/ledger/engine.hpp"

namespace floorline {

/// The rules of one version ("0.10.2"; empty: the newest). Throws InputError.
EngineProfile load_engine(const std::string& path, std::string_view version);
/// From text, for tests.
EngineProfile parse_engine(std::string_view text, std::string_view file_name,
                           std::string_view version);

}  // namespace floorline
