// SPDX-License-Identifier: Apache-2.0
#include "validation/record/record_folder.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "model/input/diagnostic.hpp"
#include "model/input/document_node.hpp"
#include "validation/record/sha256.hpp"

namespace floorline {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPart = ".part";

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw InputError(Diagnostic{position_in(path), "", why});
}

/// "NAME-0001": the number after the last '-', at least four digits, from 1.
std::optional<RecordFile> named_as_record(const fs::path& path) {
  if (path.extension() != ".json") return std::nullopt;
  const std::string stem = path.stem().string();
  const std::size_t dash = stem.rfind('-');
  if (dash == std::string::npos || dash == 0 || stem.size() - dash - 1 < 4) return std::nullopt;
  RecordFile file{stem, stem.substr(0, dash), 0, path.string()};
  const char* end = stem.data() + stem.size();
  const auto read = std::from_chars(stem.data() + dash + 1, end, file.number);
  if (read.ec != std::errc() || read.ptr != end || file.number < 1) return std::nullopt;
  return file;
}

std::string id_of(const std::string& name, std::int64_t number) {
  std::string digits = std::to_string(number);
  if (digits.size() < 4) digits.insert(0, 4 - digits.size(), '0');
  return name + '-' + digits;
}

/// A descriptor that closes itself.
class File {
 public:
  explicit File(int fd) : fd_(fd) {}
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  File(File&&) = delete;
  File& operator=(File&&) = delete;
  [[nodiscard]] int fd() const { return fd_; }

 private:
  int fd_;
};

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

void sync_folder(const std::string& folder) {
  const File file(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (file.fd() >= 0) fsync(file.fd());  // some file systems cannot; the record is whole anyway
}

/// Removes the scratch file unless the process dies first.
struct Scratch {
  std::string path;
  ~Scratch() { unlink(path.c_str()); }
};

void write_scratch(const std::string& path, const std::string& text,
                   const std::function<void(RecordStep)>& at) {
  const File file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (file.fd() < 0) refuse(path, std::string("cannot be written: ") + std::strerror(errno));
  const std::string_view all = text;
  bool well = write_all(file.fd(), all.substr(0, all.size() / 2));
  at(RecordStep::half_written);
  well = well && write_all(file.fd(), all.substr(all.size() / 2));
  at(RecordStep::written);
  if (!well || fsync(file.fd()) != 0) {
    refuse(path, std::string("cannot be written: ") + std::strerror(errno));
  }
  at(RecordStep::synced);
}

/// Under its own name, whole, never over another file. Not every file system has hard links.
bool place_whole(const std::string& scratch, const std::string& path) {
  if (link(scratch.c_str(), path.c_str()) == 0) return true;
  if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS) return false;
  return renameat2(AT_FDCWD, scratch.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) == 0;
}

}  // namespace

RecordFolder list_records(const std::string& folder) {
  RecordFolder list;
  std::error_code error;
  if (!fs::exists(folder, error)) {
    refuse(folder,
           "no such folder; expected one of records (--records; validate --record makes "
           "./records)");
  }
  if (!fs::is_directory(folder, error)) refuse(folder, "is no folder; expected one of records");
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string file = entry.path().filename().string();
    if (file.ends_with(kPart)) {
      list.leftovers.push_back(file);
    } else if (const auto record = named_as_record(entry.path())) {
      list.records.push_back(*record);
    } else {
      list.strangers.push_back(file);
    }
    if (list.records.size() + list.strangers.size() + list.leftovers.size() > kMaxRecords) {
      refuse(folder, "holds more than " + std::to_string(kMaxRecords) + " files");
    }
  }
  if (error) refuse(folder, "cannot be read");
  std::sort(list.records.begin(), list.records.end(), [](const auto& a, const auto& b) {
    return a.name != b.name ? a.name < b.name : a.number < b.number;
  });
  std::sort(list.leftovers.begin(), list.leftovers.end());
  std::sort(list.strangers.begin(), list.strangers.end());
  return list;
}

std::optional<RecordFile> latest(const RecordFolder& folder, std::string_view name) {
  std::optional<RecordFile> last;
  for (const RecordFile& record : folder.records) {
    if (record.name == name) last = record;
  }
  return last;
}

RecordFile find_record(const std::string& folder, const std::string& what) {
  std::error_code error;
  const bool is_file = fs::is_regular_file(what, error);
  const RecordFolder list =
      is_file && !fs::exists(folder, error) ? RecordFolder{} : list_records(folder);
  std::vector<std::string> known;
  for (const RecordFile& record : list.records) {
    if (record.id == what) return record;
    known.push_back(record.id);
    known.push_back(record.name);
  }
  if (const auto last = latest(list, what)) return *last;
  if (is_file) {
    const auto record = named_as_record(what);
    return record ? *record : RecordFile{fs::path(what).stem().string(), "", 0, what};
  }
  refuse(what,
         "no such record in " + folder + did_you_mean(what, known) + " (floorline record list)");
}

void check_can_keep(const std::string& folder) {
  std::error_code error;
  fs::path at = fs::absolute(folder, error);
  while (!fs::exists(fs::symlink_status(at, error)) && at.has_relative_path())
    at = at.parent_path();
  if (!fs::is_directory(at, error)) refuse(folder, "cannot be made; expected a folder");
  if (access(at.c_str(), W_OK | X_OK) != 0) refuse(folder, "cannot be written");
}

namespace {

/// The last record of the hypothesis that can be read, and its text; those behind it that cannot.
std::optional<RecordFile> latest_readable(const RecordFolder& folder, std::string_view name,
                                          std::vector<std::string>& passed_over,
                                          std::string& text) {
  for (auto record = folder.records.rbegin(); record != folder.records.rend(); ++record) {
    if (record->name != name) continue;
    try {
      text = read_text_file(record->path);
      return *record;
    } catch (const InputError&) {
      passed_over.push_back(record->path);
    }
  }
  return std::nullopt;
}

}  // namespace

RecordFile append_record(const std::string& folder, const std::string& name,
                         const std::function<std::string(const RecordPlace&)>& text,
                         const std::function<void(RecordStep)>& at) {
  const auto step = [&at](RecordStep s) {
    if (at) at(s);
  };
  std::error_code error;
  fs::create_directories(folder, error);
  if (!fs::is_directory(folder, error)) refuse(folder, "cannot be made; expected a folder");
  constexpr int kTries = 100;  // others may append to the same hypothesis meanwhile
  for (int i = 0; i < kTries; ++i) {
    const RecordFolder list = list_records(folder);
    const std::optional<RecordFile> last = latest(list, name);
    RecordFile record{"", name, last ? last->number + 1 : 1, ""};
    std::string text_before;
    const auto previous = latest_readable(list, name, record.passed_over, text_before);
    record.id = id_of(name, record.number);
    record.path = (fs::path(folder) / (record.id + ".json")).string();
    const RecordPlace place{record.id, previous, previous ? sha256(text_before) : ""};
    const Scratch scratch{
        (fs::path(folder) / ('.' + record.id + '.' + std::to_string(getpid()) + std::string(kPart)))
            .string()};
    write_scratch(scratch.path, text(place), step);
    if (place_whole(scratch.path, record.path)) {
      step(RecordStep::linked);
      sync_folder(folder);
      return record;
    }
    if (errno != EEXIST) {
      refuse(record.path, std::string("cannot be written: ") + std::strerror(errno));
    }
  }
  refuse(folder, "others append to " + name + " too fast; expected to find a free number");
}

}  // namespace floorline
