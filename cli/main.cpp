// SPDX-License-Identifier: Apache-2.0
// floorline COMMAND [WORKLOAD] [flags]. A newcomer's path: here → bound.cpp → model/evaluate.cpp.
#include <csignal>
#include <exception>
#include <iostream>
#include <new>
#include <set>
#include <string>

#include "cli/command_line.hpp"
#include "model/input/diagnostic.hpp"
#include "validation/experiment/method.hpp"

namespace {

constexpr int kBadInput = 2;
constexpr int kMachineCannot = 3;
constexpr int kOurBug = 70;

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_DFL);  // a closed pipe is not an error: end quietly
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is: "cannot be written"
  try {
    return floorline::run_command_line(argc, argv);
  } catch (const floorline::InputError& error) {
    std::set<std::string> told;
    for (const floorline::Diagnostic& diagnostic : error.diagnostics()) {
      // What no file says, the command line does. A line is printed once.
      const std::string line =
          (diagnostic.at.file ? "" : "command line: ") + floorline::to_text(diagnostic);
      if (told.insert(line).second) std::cerr << line << '\n';
    }
    return kBadInput;
  } catch (const floorline::MeasurementError& error) {
    std::cerr << "floorline: cannot be done on this machine: " << error.what() << '\n';
    return kMachineCannot;
  } catch (const std::bad_alloc&) {
    std::cerr << "floorline: error: out of memory; expected a smaller input\n";
    return kBadInput;
  } catch (const std::exception& error) {
    std::cerr << "floorline: bug: " << error.what()
              << "\nPlease report it with the command line.\n";
    return kOurBug;
  }
}
