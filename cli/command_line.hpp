// SPDX-License-Identifier: Apache-2.0
// The verbs and their flags.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace floorline {

/// Parses, runs the verb, returns the exit status: 0 yes, 1 no. Throws InputError.
int run_command_line(int argc, char** argv);

/// What the chosen verb does once its flags are read.
using Action = std::function<int()>;

// One function a verb: adds the subcommand and sets `action` when it is the one chosen.
void add_bound(CLI::App& app, Action& action);
void add_calibrate(CLI::App& app, Action& action);
void add_compare(CLI::App& app, Action& action);
void add_devices(CLI::App& app, Action& action);
void add_fuse(CLI::App& app, Action& action);
void add_graph(CLI::App& app, Action& action);
void add_sweep(CLI::App& app, Action& action);
void add_ledger(CLI::App& app, Action& action);
void add_timeline(CLI::App& app, Action& action);
void add_whatif(CLI::App& app, Action& action);
void add_record(CLI::App& app, Action& action);
void add_validate(CLI::App& app, Action& action);

}  // namespace floorline
