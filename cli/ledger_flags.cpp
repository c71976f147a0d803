// SPDX-License-Identifier: Apache-2.0
#include "cli/ledger_flags.hpp"

#include "cli/output.hpp"
#include "model/ledger/ledger_file.hpp"
#include "model/ledger/ledger_solve.hpp"
#include "model/quantity/unit_names.hpp"

namespace floorline {

namespace {

/// A name of the second scenario has one value.
void check_against(const LedgerOptions& options, Diagnostics& wrong) {
  std::vector<Assignment> all;
  for (const std::string& text : options.against) {
    const auto a = collected(wrong, [&text] { return parse_assignment(text); });
    if (!a) continue;
    for (const Assignment& before : all) {
      if (before.name != a->name) continue;
      wrong.add(position_in("command line"), "--against",
                a->name + " is given twice, as " + before.value + " and as " + a->value +
                    "; expected one value");
    }
    all.push_back(*a);
  }
}

}  // namespace

void check_ledger_flags(const LedgerOptions& options, Diagnostics& wrong) {
  check_output(options.output, wrong);
  assignments_of(options.workload.set, wrong);
  for (const std::string& line : options.lines)
    collect(wrong, [&line] { parse_line(line, Lifetime::all(1)); });
  if (!options.budget.empty() && options.budget != "device")
    collect(wrong, [&] { parse_budget(options.budget, "--budget"); });
  collect(wrong, [&] { device_list(options.device); });
  check_against(options, wrong);
  refuse_idle({{"--against", !options.against.empty() && options.output.format == "csv"}},
              "is not told in csv, which has one scenario; expected table, json or md", wrong);
  refuse_idle(
      {{"--device-path", !options.device.device_path.empty() && options.device.device.empty()}},
      "is where --device is looked for; expected with it", wrong);
}

}  // namespace floorline
