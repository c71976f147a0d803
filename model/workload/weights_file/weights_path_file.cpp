// SPDX-License-Identifier: Apache-2.0
#include "model/workload/weights_file/weights_path_file.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "model/input/diagnostic.hpp"
#include "model/workload/weights_file/gguf_file.hpp"
#include "model/workload/weights_file/header_bytes.hpp"
#include "model/workload/weights_file/safetensors_file.hpp"

namespace floorline {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw InputError(Diagnostic{position_in(path), "", why});
}

/// Files of a folder with this ending, by name.
std::vector<std::string> files_in(const std::string& folder, std::string_view ending) {
  constexpr std::size_t kMostFiles = 100'000;
  std::vector<std::string> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string path = entry.path().string();
    if (!path.ends_with(ending) || !entry.is_regular_file(error)) continue;
    if (files.size() == kMostFiles) refuse(folder, "more files than a model could have");
    files.push_back(path);
  }
  if (error) refuse(folder, error.message());
  std::sort(files.begin(), files.end());
  return files;
}

StoredWeights load_all_safetensors(const std::string& folder,
                                   const std::vector<std::string>& files) {
  StoredWeights all;
  std::set<std::string> names;
  for (const std::string& file : files) {
    StoredWeights one = load_safetensors(file);
    for (StoredTensor& tensor : one.tensors) {
      if (!names.insert(tensor.name).second) {
        refuse(folder, "\"" + shortened(tensor.name, 100) +
                           "\" is in two files and there is no model.safetensors.index.json; "
                           "expected the file that is meant");
      }
      all.tensors.push_back(std::move(tensor));
    }
    all.files.push_back(file);
  }
  if (files.size() > 1)
    all.notes.push_back("no index: all " + std::to_string(files.size()) +
                        " *.safetensors files of the folder are counted");
  return all;
}

/// The files of one split model begin with the same name and "-00001-of-".
bool is_one_split(const std::vector<std::string>& files) {
  constexpr std::string_view kFirst = "-00001-of-";
  const std::size_t at = files.front().rfind(kFirst);
  if (at == std::string::npos) return false;
  const std::string stem = files.front().substr(0, at + 1);
  return std::all_of(files.begin(), files.end(), [&](const std::string& file) {
    return file.starts_with(stem) && file.size() == files.front().size();
  });
}

StoredWeights load_folder(const std::string& folder) {
  const std::string index = (fs::path(folder) / "model.safetensors.index.json").string();
  std::error_code ignored;
  if (fs::exists(index, ignored)) return load_safetensors_index(index);
  const auto safetensors = files_in(folder, ".safetensors");
  if (!safetensors.empty()) return load_all_safetensors(folder, safetensors);
  const auto gguf = files_in(folder, ".gguf");
  if (gguf.empty())
    refuse(folder, "no weights; expected model.safetensors.index.json, *.safetensors or *.gguf");
  if (gguf.size() == 1 || is_one_split(gguf)) return load_gguf(gguf.front());
  std::string names;
  for (const std::string& file : gguf) {
    names += (names.empty() ? "" : ", ") + fs::path(file).filename().string();
  }
  refuse(folder, "several models; expected one of " + shortened(names, 400));
}

}  // namespace

StoredWeights load_stored_weights(const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return load_folder(path);
  if (path.ends_with(".index.json")) return load_safetensors_index(path);
  if (path.ends_with(".gguf")) return load_gguf(path);
  if (path.ends_with(".safetensors")) return load_safetensors(path);
  HeaderBytes bytes(path);
  const bool gguf = bytes.size() >= 4 && bytes.text(4, "the file") == "GGUF";
  if (gguf) return load_gguf(path);
  refuse(path, "expected *.safetensors, *.safetensors.index.json, *.gguf or a folder with them");
}

}  // namespace floorline
