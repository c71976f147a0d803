// SPDX-License-Identifier: Apache-2.0
#include "cli/locate.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "model/input/diagnostic.hpp"
#include "model/quantity/unit_names.hpp"

namespace floorline {

namespace {

namespace fs = std::filesystem;

void add_list(const std::string& list, std::vector<std::string>& folders) {
  std::size_t start = 0;
  while (start <= list.size()) {
    const std::size_t end = std::min(list.find(':', start), list.size());
    if (end > start) folders.push_back(list.substr(start, end - start));
    start = end + 1;
  }
}

/// A folder that was typed and is not there is a mistake; one of the environment is not.
void check_folders(const std::vector<std::string>& folders, const char* flag) {
  for (const std::string& folder : folders) {
    std::error_code error;
    if (fs::is_directory(folder, error)) continue;
    throw InputError(
        Diagnostic{position_in("command line"), flag, floorline::quoted(folder) + " is no folder"});
  }
}

/// `source`: the folder of the same in the source tree.
std::vector<std::string> folders_of(const std::string& extra, const char* flag,
                                    const char* variable, const char* kind, const char* source) {
  std::vector<std::string> folders;
  add_list(extra, folders);
  check_folders(folders, flag);
  if (const char* value = std::getenv(variable)) add_list(value, folders);
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error)
    folders.push_back((program.parent_path().parent_path() / "share/floorline" / kind).string());
  folders.push_back((fs::path(FLOORLINE_SOURCE_DIR) / source).string());
  return folders;
}

std::vector<std::string> names_in(const std::vector<std::string>& folders) {
  std::set<std::string> names;
  for (const std::string& folder : folders) {
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
      const std::string extension = entry.path().extension().string();
      if (extension == ".toml" || extension == ".json") names.insert(entry.path().stem().string());
    }
  }
  return {names.begin(), names.end()};
}

}  // namespace

DevicePath device_path(const std::string& extra) {
  return {folders_of(extra, "--device-path", "FLOORLINE_DEVICE_PATH", "devices", "devices")};
}

std::vector<std::string> workload_folders(const std::string& extra) {
  return folders_of(extra, "--workload-path", "FLOORLINE_WORKLOAD_PATH", "workloads", "workloads");
}

namespace {

/// A file as it is, or NAME with one of the extensions in the folders. `what`: "workload".
std::string find_named(const std::string& name, const std::vector<std::string>& folders,
                       const std::vector<std::string>& extensions, const std::string& what) {
  std::error_code error;
  if (fs::exists(name, error) && !fs::is_directory(name, error)) return name;
  const bool is_path = name.find('/') != std::string::npos;
  if (!is_path) {
    for (const std::string& folder : folders) {
      for (const std::string& extension : extensions) {
        const fs::path candidate = fs::path(folder) / (name + extension);
        if (fs::is_regular_file(candidate, error)) return candidate.string();
      }
    }
  }
  std::string message = fs::is_directory(name, error) ? "is a folder, expected a file"
                        : is_path                     ? "no such file"
                                  : "no such file, and no " + what + " of that name";
  if (!is_path) message += did_you_mean(name, names_in(folders));
  throw InputError(Diagnostic{position_in(name), "", message});
}

}  // namespace

std::string find_workload(const std::string& name, const std::vector<std::string>& folders) {
  return find_named(name, folders, {".toml", ".json", ""}, "workload");
}

std::vector<std::string> hypothesis_folders(const std::string& extra) {
  return folders_of(extra, "--hypothesis-path", "FLOORLINE_HYPOTHESIS_PATH", "hypotheses",
                    "validation/hypotheses");
}

std::string find_hypothesis(const std::string& name, const std::vector<std::string>& folders) {
  return find_named(name, folders, {".toml"}, "hypothesis");
}

std::vector<std::string> shipped_hypotheses(const std::vector<std::string>& folders) {
  std::vector<std::string> files;
  for (const std::string& folder : folders) {
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
      if (entry.path().extension() == ".toml") files.push_back(entry.path().string());
    }
    if (!files.empty()) break;
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace floorline
