// SPDX-License-Identifier: Apache-2.0
#include "model/workload/weights_file/safetensors_file.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>

#include "model/input/document_node.hpp"
#include "model/quantity/unit_names.hpp"
#include "model/workload/weights_file/header_bytes.hpp"

namespace floorline {

namespace {

struct StoredDtype {
  std::string_view name;
  std::int64_t bits;
};
constexpr std::array kDtypes{
    StoredDtype{"BOOL", 8},    StoredDtype{"U8", 8},      StoredDtype{"I8", 8},
    StoredDtype{"F4", 4},      StoredDtype{"F6_E2M3", 6}, StoredDtype{"F6_E3M2", 6},
    StoredDtype{"F8_E4M3", 8}, StoredDtype{"F8_E5M2", 8}, StoredDtype{"F8_E8M0", 8},
    StoredDtype{"U16", 16},    StoredDtype{"I16", 16},    StoredDtype{"F16", 16},
    StoredDtype{"BF16", 16},   StoredDtype{"U32", 32},    StoredDtype{"I32", 32},
    StoredDtype{"F32", 32},    StoredDtype{"U64", 64},    StoredDtype{"I64", 64},
    StoredDtype{"F64", 64},    StoredDtype{"C64", 64},
};

std::vector<std::string> dtype_names() {
  std::vector<std::string> names;
  for (const StoredDtype& dtype : kDtypes) names.emplace_back(dtype.name);
  return names;
}

std::optional<std::int64_t> bits_of(std::string_view name) {
  for (const StoredDtype& dtype : kDtypes) {
    if (dtype.name == name) return dtype.bits;
  }
  return std::nullopt;
}

/// Whole numbers from 0 up; nothing when one of them is something else.
std::optional<std::vector<std::int64_t>> counts(const Node* list) {
  if (list == nullptr || list->kind != Node::Kind::array) return std::nullopt;
  std::vector<std::int64_t> all;
  for (const Node& item : list->items) {
    if (item.kind != Node::Kind::integer || item.integer < 0) return std::nullopt;
    all.push_back(item.integer);
  }
  return all;
}

struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::size_t member = 0;
};

class SafetensorsHeader {
 public:
  SafetensorsHeader(const Node& header, std::uint64_t data_bytes)
      : header_(header), data_bytes_(data_bytes) {}

  std::vector<StoredTensor> read() {
    if (header_.kind != Node::Kind::table) {
      diagnostics_.add(header_.at, "",
                       "the header is no JSON object; expected tensors by their names");
    }
    for (std::size_t i = 0; i < header_.members.size(); ++i) {
      if (header_.members[i].key != "__metadata__") read_tensor(i);
    }
    diagnostics_.throw_if_any();
    check_ranges();
    diagnostics_.throw_if_any();
    return std::move(tensors_);
  }

 private:
  void wrong(const NodeMember& member, const char* key, const std::string& message) {
    diagnostics_.add(member.at, join_key(join_key("", member.key), key), message);
  }

  void read_tensor(std::size_t i) {
    const NodeMember& member = header_.members[i];
    const Node* dtype = member.value.find("dtype");
    const auto shape = counts(member.value.find("shape"));
    const auto offsets = counts(member.value.find("data_offsets"));
    const bool named = dtype != nullptr && dtype->kind == Node::Kind::text;
    if (!named) wrong(member, "dtype", "missing; expected a type such as \"BF16\"");
    if (!shape) wrong(member, "shape", "expected a list of whole numbers from 0 up");
    if (!offsets || offsets->size() != 2 || (*offsets)[0] > (*offsets)[1])
      wrong(member, "data_offsets", "expected [begin, end], end not before begin");
    const auto bits = named ? bits_of(dtype->text) : std::nullopt;
    if (named && !bits) {
      wrong(member, "dtype",
            "\"" + shortened(dtype->text, kMostShown) + "\" is not a known type" +
                did_you_mean(dtype->text, dtype_names()));
    }
    for (const NodeMember& key : member.value.members) {
      if (key.key != "dtype" && key.key != "shape" && key.key != "data_offsets")
        wrong(member, key.key.c_str(), "is no key of a tensor");
    }
    if (!bits || !shape || !offsets || offsets->size() != 2 || (*offsets)[0] > (*offsets)[1])
      return;
    add(i, {member.key, *shape, dtype->text, 0, {}}, *bits, {(*offsets)[0], (*offsets)[1], i});
  }

  void add(std::size_t i, StoredTensor tensor, std::int64_t bits, const Range& range) {
    const NodeMember& member = header_.members[i];
    if (!multiply(tensor.shape, tensor.elements)) {
      wrong(member, "shape", "more than 2^63 elements; expected a tensor that could exist");
      return;
    }
    tensor.bytes = ByteCount::from_bits(tensor.elements, bits);
    const std::int64_t stored = range.end - range.begin;
    if (tensor.bytes != ByteCount(stored) || tensor.elements % kBits * bits % kBits != 0) {
      wrong(member, "data_offsets",
            std::to_string(stored) + " bytes do not hold " + shape_text(tensor.shape) + " of " +
                tensor.dtype + ", which takes " +
                (tensor.bytes.overflowed() ? "more than 9.2e18"
                                           : std::to_string(*tensor.bytes.count())));
      return;
    }
    ranges_.push_back(range);
    tensors_.push_back(std::move(tensor));
  }

  /// One after another from byte 0 to the end of the file.
  void check_ranges() {
    std::stable_sort(ranges_.begin(), ranges_.end(), [](const Range& a, const Range& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
    });
    std::int64_t at = 0;
    const NodeMember* before = nullptr;
    for (const Range& range : ranges_) {
      const NodeMember& member = header_.members[range.member];
      if (static_cast<std::uint64_t>(range.end) > data_bytes_) {
        wrong(member, "data_offsets",
              "ends at byte " + std::to_string(range.end) + " of the data, but the file has " +
                  std::to_string(data_bytes_) + " bytes of data: it is cut short");
        return;
      }
      if (range.begin != at) {
        const std::string other = before == nullptr
                                      ? "the data begin"
                                      : "\"" + shortened(before->key, kMostShown) + "\" ends";
        wrong(member, "data_offsets",
              "begins at byte " + std::to_string(range.begin) + ", but " + other + " at byte " +
                  std::to_string(at) +
                  (range.begin < at ? ": they overlap" : ": bytes between them belong to nobody"));
        return;
      }
      at = range.end;
      before = &member;
    }
    if (static_cast<std::uint64_t>(at) != data_bytes_) {
      diagnostics_.add(header_.at, "",
                       "the tensors end at byte " + std::to_string(at) +
                           " of the data, but the file has " + std::to_string(data_bytes_) +
                           " bytes of data; expected nothing behind the last tensor");
    }
  }

  static constexpr std::int64_t kBits = 8;
  static constexpr std::size_t kMostShown = 100;
  const Node& header_;
  std::uint64_t data_bytes_;
  std::vector<StoredTensor> tensors_;
  std::vector<Range> ranges_;
  Diagnostics diagnostics_;
};

StoredWeights read_safetensors(HeaderBytes& bytes) {
  const std::uint64_t length = bytes.u64("the length of the header");
  if (length > bytes.left()) {
    bytes.fail("", "the header is said to have " + std::to_string(length) + " bytes, but only " +
                       std::to_string(bytes.left()) +
                       " follow; not a safetensors file, or cut short");
  }
  if (length > kMaxDocumentBytes) {
    bytes.fail("", "the header is said to have " + std::to_string(length) +
                       " bytes; expected at most " + std::to_string(kMaxDocumentBytes));
  }
  const std::string text = bytes.text(length, "the header");
  if (!text.starts_with('{')) bytes.fail("", "the header does not begin with '{'");
  const Node header = parse_json(text, bytes.file());
  StoredWeights weights;
  weights.files.push_back(bytes.file());
  weights.tensors = SafetensorsHeader(header, bytes.left()).read();
  return weights;
}

/// A file beside the index: a plain name, so that an index cannot reach elsewhere.
bool is_plain_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of("/\\") == std::string::npos;
}

/// Files of the index in the order of their names, with how many tensors each should hold.
std::map<std::string, std::vector<const NodeMember*>> files_of(const Node& index) {
  Diagnostics diagnostics;
  std::map<std::string, std::vector<const NodeMember*>> files;
  const Node* map = index.find("weight_map");
  if (map == nullptr || map->kind != Node::Kind::table || map->members.empty()) {
    diagnostics.add(index.at, "weight_map",
                    "missing or empty; expected the file of each tensor by its name");
    diagnostics.throw_if_any();
  }
  for (const NodeMember& member : map->members) {
    if (member.value.kind == Node::Kind::text && is_plain_name(member.value.text)) {
      files[member.value.text].push_back(&member);
    } else {
      diagnostics.add(member.at, join_key("weight_map", member.key),
                      "expected the name of a file in the same folder");
    }
  }
  diagnostics.throw_if_any();
  return files;
}

}  // namespace

StoredWeights load_safetensors(const std::string& path) {
  HeaderBytes bytes(path);
  return read_safetensors(bytes);
}

StoredWeights parse_safetensors(std::string_view text, const std::string& file_name) {
  HeaderBytes bytes(text, file_name);
  return read_safetensors(bytes);
}

namespace {

/// Tensors of one file that the index names; those it names and the file lacks are errors.
void take(const StoredWeights& file, const std::vector<const NodeMember*>& named,
          StoredWeights& weights, Diagnostics& diagnostics) {
  std::map<std::string_view, const StoredTensor*> stored;
  for (const StoredTensor& tensor : file.tensors) stored[tensor.name] = &tensor;
  for (const NodeMember* member : named) {
    const auto found = stored.find(member->key);
    if (found == stored.end()) {
      diagnostics.add(member->at, join_key("weight_map", member->key),
                      "is not in " + member->value.text);
      continue;
    }
    weights.tensors.push_back(*found->second);
  }
  if (file.tensors.size() > named.size()) {
    weights.notes.push_back(file.files.front() + ": " +
                            std::to_string(file.tensors.size() - named.size()) +
                            " tensors are not in the index and not counted");
  }
}

void compare_total(const Node& index, StoredWeights& weights) {
  const Node* metadata = index.find("metadata");
  const Node* total = metadata == nullptr ? nullptr : metadata->find("total_size");
  if (total == nullptr || !total->is_number()) return;
  const ByteCount sum = total_bytes(weights);
  if (sum.count() && static_cast<double>(*sum.count()) == total->real) return;
  weights.notes.push_back("the index says total_size = " + exact_text(total->real) +
                          " bytes; its tensors have " +
                          (sum.count() ? std::to_string(*sum.count()) : "more than 9.2e18"));
}

}  // namespace

StoredWeights load_safetensors_index(const std::string& path) {
  const Node index = parse_json(read_text_file(path), path);
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  StoredWeights weights;
  Diagnostics diagnostics;
  std::error_code ignored;
  for (const auto& [name, named] : files_of(index)) {
    const std::string file = (folder / name).string();
    if (!std::filesystem::exists(file, ignored)) {
      diagnostics.add(named.front()->at, join_key("weight_map", named.front()->key),
                      "there is no " + file);
      continue;
    }
    const StoredWeights stored = load_safetensors(file);
    weights.files.push_back(file);
    take(stored, named, weights, diagnostics);
  }
  diagnostics.throw_if_any();
  compare_total(index, weights);
  return weights;
}

}  // namespace floorline
