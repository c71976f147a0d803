// SPDX-License-Identifier: Apache-2.0
// Stands in for libFuzzer: feeds every saved file of a corpus, whole and cut short, to the target.
// A crash, a sanitizer's complaint or an exception that escapes ends the run with a failure.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr std::size_t kCutsPerFile = 64;

// A copy of exactly this size, so that reading one byte too far is seen.
void feed(const std::string& text, std::size_t size) {
  const std::vector<std::uint8_t> exact(text.begin(),
                                        text.begin() + static_cast<std::ptrdiff_t>(size));
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
}

void replay(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  const std::string text = content.str();
  const std::size_t step = std::max<std::size_t>(1, text.size() / kCutsPerFile);
  for (std::size_t size = 0; size < text.size(); size += step) feed(text, size);
  feed(text, text.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 || !std::filesystem::is_directory(argv[1])) {
    std::fputs("usage: NAME_fuzz CORPUS_DIRECTORY\n", stderr);
    return 2;
  }
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1]))
    if (entry.is_regular_file()) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const auto& path : files) {
    try {
      replay(path);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s: escaped: %s\n", path.c_str(), error.what());
      return 1;
    }
  }
  std::printf("%zu files replayed\n", files.size());
  return files.empty() ? 1 : 0;
}
