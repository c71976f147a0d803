// SPDX-License-Identifier: Apache-2.0
#include "model/workload/weights_file/gguf_file.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <set>

#include "model/workload/weights_file/header_bytes.hpp"

namespace floorline {

namespace {

// Limits against hostile headers; real files stay far below.
constexpr std::uint64_t kMostTensors = std::uint64_t{1} << 18U;
constexpr std::uint64_t kMostKeys = std::uint64_t{1} << 16U;
constexpr std::uint64_t kMostNameBytes = 1024;
constexpr std::uint32_t kMostDimensions = 4;
constexpr int kMostNesting = 8;
constexpr std::uint64_t kMostItems = std::uint64_t{1} << 24U;  // texts, read one by one
constexpr std::uint64_t kMostFiles = 10'000;
// The least that one key and one tensor take.
constexpr std::uint64_t kLeastKeyBytes = 8 + 4 + 1;
constexpr std::uint64_t kLeastTensorBytes = 8 + 4 + 4 + 8;
constexpr std::uint64_t kDefaultAlignment = 32;

enum Value : std::uint32_t { kUint16 = 2, kUint32 = 4, kString = 8, kArray = 9, kUint64 = 10 };
/// Bytes of a value by type; 0: a length says.
constexpr std::array<std::uint64_t, 13> kValueBytes{1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

struct PlacedTensor {
  std::uint64_t offset = 0;
  std::uint64_t described_at = 0;
};

class GgufHeader {
 public:
  explicit GgufHeader(HeaderBytes& bytes) : b_(bytes) {}

  StoredWeights read() {
    read_counts();
    for (std::uint64_t i = 0; i < keys_; ++i) read_key();
    for (std::uint64_t i = 0; i < tensors_; ++i) read_tensor();
    check_ranges();
    weights_.files.push_back(b_.file());
    return std::move(weights_);
  }
  [[nodiscard]] std::uint64_t files() const { return files_; }

 private:
  void read_counts() {
    constexpr std::size_t kMagicBytes = 4;
    if (b_.size() < kMagicBytes || b_.text(kMagicBytes, "the magic") != "GGUF")
      b_.fail("", "does not begin with \"GGUF\"; not a GGUF file");
    const std::uint32_t version = b_.u32("the version");
    if (version != 2 && version != 3) {
      const bool swapped = (version & 0xFFFFU) == 0 && version != 0;
      b_.fail("", swapped ? "is big-endian, which is not understood"
                          : "version " + std::to_string(version) + "; expected 2 or 3");
    }
    tensors_ = b_.u64("the number of tensors");
    keys_ = b_.u64("the number of keys");
    if (tensors_ > std::min(kMostTensors, b_.left() / kLeastTensorBytes))
      b_.fail_here("", too_many(tensors_, "tensors", kMostTensors));
    if (keys_ > std::min(kMostKeys, b_.left() / kLeastKeyBytes))
      b_.fail_here("", too_many(keys_, "keys", kMostKeys));
  }
  [[nodiscard]] std::string too_many(std::uint64_t count, const char* what,
                                     std::uint64_t most) const {
    return "says it has " + std::to_string(count) + " " + what + "; " +
           (count > most ? "expected at most " + std::to_string(most)
                         : "a file of " + std::to_string(b_.size()) + " bytes cannot hold them");
  }

  std::string read_name(const char* what) {
    const std::uint64_t length = b_.u64(what);
    if (length == 0 || length > kMostNameBytes) {
      b_.fail_here("", std::string(what) + " has " + std::to_string(length) +
                           " bytes; expected 1 to " + std::to_string(kMostNameBytes));
    }
    return b_.text(length, what);
  }

  void read_key() {
    const std::string key = read_name("the name of a key");
    if (!names_.insert(key).second) b_.fail_here(key, "this key is there twice");
    const std::uint32_t type = b_.u32("the type of a key");
    if (key == "general.alignment") {
      if (type != kUint32) b_.fail_here(key, "expected a 32-bit unsigned number");
      alignment_ = b_.u32("general.alignment");
      if (alignment_ == 0 || (alignment_ & (alignment_ - 1)) != 0)
        b_.fail_here(key, std::to_string(alignment_) + " is no power of two");
    } else if (key == "split.count" && (type == kUint16 || type == kUint32)) {
      files_ = type == kUint32 ? b_.u32("split.count") : read_u16();
    } else {
      skip_value(key, type, 0);
    }
  }
  std::uint64_t read_u16() {
    const std::string two = b_.text(2, "split.count");
    return static_cast<unsigned char>(two[0]) +
           (std::uint64_t{static_cast<unsigned char>(two[1])} << 8U);
  }

  void skip_value(const std::string& key, std::uint32_t type, int depth) {
    if (type >= kValueBytes.size() || depth > kMostNesting)
      b_.fail_here(key, "type " + std::to_string(type) + " is not understood");
    if (type == kString) {
      const std::uint64_t length = b_.u64("the length of a text");
      b_.skip(length, "a text");
    } else if (type == kArray) {
      skip_array(key, depth);
    } else {
      b_.skip(kValueBytes[type], "a value");
    }
  }
  void skip_array(const std::string& key, int depth) {
    const std::uint32_t type = b_.u32("the type of an array");
    const std::uint64_t count = b_.u64("the length of an array");
    const bool sized = type < kValueBytes.size() && kValueBytes[type] > 0;
    const std::uint64_t least = sized ? kValueBytes[type] : sizeof(std::uint64_t);
    if (count > b_.left() / least) {
      b_.fail_here(key, "an array of " + std::to_string(count) + " items; the file has " +
                            std::to_string(b_.left()) + " bytes left");
    }
    if (sized) return b_.skip(count * least, "an array");
    items_ += count;
    if (items_ > kMostItems)
      b_.fail_here(key, "more than " + std::to_string(kMostItems) + " texts in arrays");
    for (std::uint64_t i = 0; i < count; ++i) skip_value(key, type, depth + 1);
  }

  void read_tensor() {
    StoredTensor tensor;
    PlacedTensor place;
    place.described_at = b_.offset();
    tensor.name = read_name("the name of a tensor");
    if (!tensor_names_.insert(tensor.name).second)
      b_.fail_here(tensor.name, "this tensor is there twice");
    const std::uint32_t dimensions = b_.u32("the dimensions of a tensor");
    if (dimensions > kMostDimensions) {
      b_.fail_here(tensor.name, std::to_string(dimensions) + " dimensions; expected at most " +
                                    std::to_string(kMostDimensions));
    }
    for (std::uint32_t i = 0; i < dimensions; ++i) {
      const std::uint64_t size = b_.u64("the shape of a tensor");
      if (size > (~std::uint64_t{0} >> 1U)) wrong_shape(tensor);
      tensor.shape.push_back(static_cast<std::int64_t>(size));
    }
    const std::uint32_t type = b_.u32("the type of a tensor");
    place.offset = b_.u64("the offset of a tensor");
    measure(tensor, type);
    if (place.offset % alignment_ != 0) {
      b_.fail_here(tensor.name, "its data begin at byte " + std::to_string(place.offset) +
                                    ", no multiple of the alignment " + std::to_string(alignment_));
    }
    places_.push_back(place);
    weights_.tensors.push_back(std::move(tensor));
  }
  [[noreturn]] void wrong_shape(const StoredTensor& tensor) const {
    b_.fail_here(tensor.name, "more than 2^63 elements; expected a tensor that could exist");
  }

  void measure(StoredTensor& tensor, std::uint32_t id) const {
    const GgufType* type = gguf_type(id);
    if (type == nullptr || type->bytes == 0) {
      b_.fail_here(tensor.name, "type " + std::to_string(id) +
                                    (type == nullptr ? " is not known"
                                                     : " (" + std::string(type->name) +
                                                           ") was removed from the format"));
    }
    tensor.dtype = type->name;
    if (!multiply(tensor.shape, tensor.elements)) wrong_shape(tensor);
    const std::int64_t row = tensor.shape.empty() ? 1 : tensor.shape.front();
    if (row % type->elements != 0) {
      b_.fail_here(tensor.name, "rows of " + std::to_string(row) + " are no whole blocks of " +
                                    std::to_string(type->elements) + " (" + tensor.dtype + ")");
    }
    tensor.bytes = ByteCount(tensor.elements / type->elements) * type->bytes;
    if (tensor.bytes.overflowed()) wrong_shape(tensor);
  }

  /// Inside the file, and no two on the same bytes.
  void check_ranges() const {
    const std::uint64_t data = (b_.offset() + alignment_ - 1) / alignment_ * alignment_;
    std::vector<std::size_t> order(places_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return places_[a].offset != places_[b].offset ? places_[a].offset < places_[b].offset : a < b;
    });
    std::uint64_t end = 0;
    for (const std::size_t i : order) {
      const StoredTensor& tensor = weights_.tensors[i];
      const auto bytes = static_cast<std::uint64_t>(tensor.bytes.count().value_or(0));
      const std::uint64_t begin = places_[i].offset;
      if (begin < end && bytes > 0) {
        b_.fail(tensor.name, "its data begin at byte " + std::to_string(begin) +
                                 " of the data, before those of another tensor end (byte " +
                                 std::to_string(end) + "): they overlap");
      }
      const bool inside =
          data <= b_.size() && begin <= b_.size() - data && bytes <= b_.size() - data - begin;
      if (!inside && bytes > 0) {
        b_.fail(tensor.name, std::to_string(bytes) + " bytes from byte " + std::to_string(begin) +
                                 " of the data on, but the file of " + std::to_string(b_.size()) +
                                 " bytes ends before: it is cut short");
      }
      if (bytes > 0) end = std::max(end, begin + bytes);
    }
  }

  HeaderBytes& b_;
  StoredWeights weights_;
  std::uint64_t tensors_ = 0;
  std::uint64_t keys_ = 0;
  std::uint64_t alignment_ = kDefaultAlignment;
  std::uint64_t files_ = 1;
  std::uint64_t items_ = 0;
  std::set<std::string> names_;
  std::set<std::string> tensor_names_;
  std::vector<PlacedTensor> places_;
};

struct GgufFile {
  StoredWeights weights;
  std::uint64_t files = 1;
};

GgufFile read_file(const std::string& path) {
  HeaderBytes bytes(path);
  GgufHeader header(bytes);
  GgufFile file;
  file.weights = header.read();
  file.files = header.files();
  return file;
}

/// "model-00001-of-00003.gguf" → "model", nothing when a name is not made like that.
std::optional<std::string> stem_of_split(const std::string& path, std::uint64_t files) {
  constexpr std::size_t kDigits = 5;
  const std::string end = "-of-" + std::string(kDigits - std::to_string(files).size(), '0') +
                          std::to_string(files) + ".gguf";
  if (!path.ends_with(end) || path.size() < end.size() + kDigits + 1) return std::nullopt;
  return path.substr(0, path.size() - end.size() - kDigits - 1);
}

std::string split_name(const std::string& stem, std::uint64_t number, std::uint64_t files) {
  const auto five = [](std::uint64_t n) {
    const std::string digits = std::to_string(n);
    return std::string(5 - std::min<std::size_t>(5, digits.size()), '0') + digits;
  };
  return stem + "-" + five(number) + "-of-" + five(files) + ".gguf";
}

}  // namespace

StoredWeights parse_gguf(std::string_view text, const std::string& file_name) {
  HeaderBytes bytes(text, file_name);
  return GgufHeader(bytes).read();
}

StoredWeights load_gguf(const std::string& path) {
  GgufFile first = read_file(path);
  if (first.files <= 1) return std::move(first.weights);
  const auto refuse = [&](const std::string& why) {
    throw InputError(Diagnostic{position_in(path), "split.count", why});
  };
  if (first.files > kMostFiles)
    refuse("says it has " + std::to_string(first.files) + " files; expected at most " +
           std::to_string(kMostFiles));
  const auto stem = stem_of_split(path, first.files);
  if (!stem)
    refuse("is one of " + std::to_string(first.files) + " files, which are named NAME-00001-of-" +
           std::to_string(first.files) + ".gguf");
  StoredWeights all;
  std::set<std::string> names;
  for (std::uint64_t i = 1; i <= first.files; ++i) {
    GgufFile file = read_file(split_name(*stem, i, first.files));
    for (StoredTensor& tensor : file.weights.tensors) {
      if (!names.insert(tensor.name).second) refuse("\"" + tensor.name + "\" is in two files");
      all.tensors.push_back(std::move(tensor));
    }
    all.files.push_back(file.weights.files.front());
  }
  return all;
}

}  // namespace floorline
