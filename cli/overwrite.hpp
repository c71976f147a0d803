// SPDX-License-Identifier: Apache-2.0
// A file that a command reads is not one that it writes.
#pragma once

namespace CLI {
class App;
}

namespace floorline {

/// Throws all flags of a result (--output, --emit, --record, --trace) that name a file which
/// another argument names too: by a path, by a link, or by the name of what is shipped.
void refuse_overwritten_inputs(const CLI::App& app);

}  // namespace floorline
