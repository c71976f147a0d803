// SPDX-License-Identifier: Apache-2.0
// judge_measured FOLDER: measured GPU times against our floors. validation/README.md says what it
// reads and what its answers mean.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <new>

#include "model/input/diagnostic.hpp"
#include "validation/report/judge_document.hpp"

namespace {

using namespace floorline;

constexpr int kAnswerIsNo = 1;
constexpr int kBadInput = 2;
constexpr int kNothingThere = 3;
constexpr int kOurBug = 70;
constexpr int kWidth = 160;

constexpr const char* kFooter =
    "Exit status: 0 every statement holds; 1 one does not; 2 bad input; 3 the folder is not there "
    "or "
    "holds no rows; 70 a bug.";

struct Options {
  std::string folder;
  std::string format = "table";
  std::string device_path;
  std::string models;
};

void add_list(const std::string& list, std::vector<std::string>& folders) {
  std::size_t start = 0;
  while (start <= list.size()) {
    const std::size_t end = std::min(list.find(':', start), list.size());
    if (end > start) folders.push_back(list.substr(start, end - start));
    start = end + 1;
  }
}

/// As the program floorline looks for devices (design §3).
DevicePath device_path(const std::string& extra) {
  DevicePath path;
  add_list(extra, path.folders);
  if (const char* value = std::getenv("FLOORLINE_DEVICE_PATH")) add_list(value, path.folders);
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) {
    path.folders.push_back(
        (program.parent_path().parent_path() / "share/floorline/devices").string());
  }
  path.folders.emplace_back(FLOORLINE_SOURCE_DIR "/devices");
  return path;
}

Format format_of(const std::string& name) {
  const std::vector<std::string> names{"table", "json", "csv", "md"};
  for (const Format format : {Format::table, Format::json, Format::csv, Format::md}) {
    if (name == names[static_cast<std::size_t>(format)]) return format;
  }
  throw InputError(Diagnostic{position_in("command line"), "--format",
                              "\"" + name + "\" is not a format" + did_you_mean(name, names) +
                                  "; expected table, json, csv or md"});
}

int judge(const Options& options) {
  const Format format = format_of(options.format);
  const std::optional<MeasuredFolder> folder = list_measured(options.folder);
  if (!folder || folder->files.empty()) {
    std::cerr << "judge_measured: skipped: " << options.folder
              << (folder ? " holds no table of measured rows\n" : " is not there\n");
    return kNothingThere;
  }
  const std::string models =
      options.models.empty() ? options.folder + "/../model-configs" : options.models;
  const Judgement judgement = judge_folder(*folder, device_path(options.device_path), models);
  std::cout << write(judge_document(options.folder, judgement), format, {false, kWidth})
            << std::flush;
  return judgement.holds() ? 0 : kAnswerIsNo;
}

int run(int argc, char** argv) {
  CLI::App app(
      "Judges measured GPU times against floors at any residency, and says how tight they are.",
      "judge_measured");
  app.footer(kFooter);
  Options options;
  app.add_option("FOLDER", options.folder, "with <gpu>/<kind>.csv or .csv.gz")->required();
  app.add_option("--format", options.format, "table (default), json, csv or md");
  app.add_option("--device-path", options.device_path, "folders to look for devices in first");
  app.add_option("--models", options.models,
                 "folder of the configurations of served models (FOLDER/../model-configs)");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help
    app.exit(asked, std::cout, std::cerr);
    return 0;
  } catch (const CLI::ParseError& error) {
    throw InputError(Diagnostic{position_in("command line"), "",
                                std::string(error.what()) + " (judge_measured --help)"});
  }
  return judge(options);
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_DFL);
  try {
    return run(argc, argv);
  } catch (const InputError& error) {
    for (const Diagnostic& diagnostic : error.diagnostics())
      std::cerr << to_text(diagnostic) << '\n';
    return kBadInput;
  } catch (const std::bad_alloc&) {
    std::cerr << "judge_measured: error: out of memory; expected smaller tables\n";
    return kBadInput;
  } catch (const std::exception& error) {
    std::cerr << "judge_measured: bug: " << error.what() << '\n';
    return kOurBug;
  }
}
