// SPDX-License-Identifier: Apache-2.0
// Weights files written byte by byte.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "model/input/diagnostic.hpp"
#include "model/workload/weights_file/gguf_file.hpp"
#include "model/workload/weights_file/safetensors_file.hpp"
#include "model/workload/weights_file/weights_path_file.hpp"

using namespace floorline;

namespace {

template <class Int>
std::string little_endian(Int value, std::size_t bytes = sizeof(Int)) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i)
    text += static_cast<char>((static_cast<std::uint64_t>(value) >> (8 * i)) & 0xFFU);
  return text;
}
std::string u32(std::uint32_t value) { return little_endian(value); }
std::string u64(std::uint64_t value) { return little_endian(value); }
std::string counted(const std::string& text) { return u64(text.size()) + text; }

std::string safetensors(const std::string& header, std::size_t data) {
  return u64(header.size()) + header + std::string(data, '\0');
}
std::string entry(const char* name, const char* dtype, const char* shape, int begin, int end) {
  return "\"" + std::string(name) + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape +
         ",\"data_offsets\":[" + std::to_string(begin) + "," + std::to_string(end) + "]}";
}

struct Gguf {
  std::vector<std::string> keys;
  std::vector<std::string> tensors;
  std::size_t data = 0;

  Gguf& key(const std::string& name, std::uint32_t type, const std::string& value) {
    keys.push_back(counted(name) + u32(type) + value);
    return *this;
  }
  Gguf& tensor(const std::string& name, const std::vector<std::uint64_t>& shape, std::uint32_t type,
               std::uint64_t offset) {
    std::string t = counted(name) + u32(static_cast<std::uint32_t>(shape.size()));
    for (const std::uint64_t size : shape) t += u64(size);
    tensors.push_back(t + u32(type) + u64(offset));
    return *this;
  }
  Gguf& with_data(std::size_t bytes) {
    data = bytes;
    return *this;
  }
  [[nodiscard]] std::string bytes(std::size_t alignment = 32) const {
    std::string b = "GGUF" + u32(3) + u64(tensors.size()) + u64(keys.size());
    for (const std::string& k : keys) b += k;
    for (const std::string& t : tensors) b += t;
    b.resize((b.size() + alignment - 1) / alignment * alignment, '\0');
    return b + std::string(data, '\0');
  }
};

template <class Read>
std::string refused(const Read& read) {
  try {
    read();
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}
std::string refused_safetensors(const std::string& header, std::size_t data) {
  return refused([&] { parse_safetensors(safetensors(header, data), "w"); });
}
std::string refused_gguf(const std::string& bytes) {
  return refused([&] { parse_gguf(bytes, "w"); });
}
bool has(const std::string& text, const char* part) {
  const bool found = text.find(part) != std::string::npos;
  if (!found) MESSAGE(text);
  return found;
}

/// A folder of its own, removed at the end.
class Folder {
 public:
  Folder() {
    path_ = std::filesystem::temp_directory_path() / "floorline_weights_test";
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream file(path_ / name, std::ios::binary);
    file << bytes;
    return (path_ / name).string();
  }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace

TEST_SUITE("workload") {
  TEST_CASE("safetensors: bytes of each tensor at its own type") {
    // 6 x 2 B, one fp32 scalar, 5 bytes, 4 x 4 bits, an empty tensor: 12 + 4 + 5 + 2 + 0.
    const StoredWeights w = parse_safetensors(
        safetensors(
            "{\"__metadata__\":{\"format\":\"pt\"}," + entry("a", "BF16", "[2,3]", 0, 12) + "," +
                entry("b", "F32", "[]", 12, 16) + "," + entry("c", "F8_E4M3", "[5]", 16, 21) + "," +
                entry("d", "F4", "[4]", 21, 23) + "," + entry("e", "F16", "[0,7]", 23, 23) + "}",
            23),
        "w");
    REQUIRE(w.tensors.size() == 5);
    CHECK(w.tensors[0].name == "a");
    CHECK(w.tensors[0].bytes == ByteCount(12));
    CHECK(w.tensors[3].bytes == ByteCount(2));
    CHECK(total_bytes(w) == ByteCount(23));
    CHECK(total_elements(w) == 16);
    const auto shares = by_dtype(w);
    REQUIRE(shares.size() == 5);
    CHECK(shares[0].dtype == "BF16");
    CHECK(shares[0].elements == 6);
    CHECK(largest_tensors(w, 2) == std::vector<std::size_t>{0, 2});
  }

  TEST_CASE("safetensors: a broken header says what is wrong and where") {
    const auto read = [](const std::string& bytes) {
      return refused([&] { parse_safetensors(bytes, "w"); });
    };
    CHECK(has(read(""), "8 bytes expected, 0 left"));
    CHECK(has(read("abc"), "the length of the header"));
    CHECK(has(read(u64(std::uint64_t{1} << 63U) + "{}"),
              "said to have 9223372036854775808 bytes, but only 2 follow"));
    CHECK(has(read(u64(2) + "[]"), "does not begin with '{'"));
    CHECK(has(read(u64(0)), "does not begin with '{'"));
    CHECK(has(refused_safetensors("{\"a\":", 0), "w:1:"));
    CHECK(has(refused_safetensors("{\"a\":3}", 0), "a.dtype"));
    CHECK(has(refused_safetensors("{" + entry("a", "BF17", "[1]", 0, 2) + "}", 2),
              "\"BF17\" is not a known type; did you mean \"BF16\"?"));
    CHECK(has(refused_safetensors("{" + entry("a", "U8", "[-1]", 0, 1) + "}", 1), "a.shape"));
    CHECK(has(refused_safetensors("{" + entry("a", "U8", "[1.5]", 0, 1) + "}", 1), "a.shape"));
    CHECK(has(refused_safetensors("{" + entry("a", "U8", "[1]", 1, 0) + "}", 1),
              "end not before begin"));
    CHECK(
        has(refused_safetensors("{" + entry("a", "F64", "[9223372036854775807,3]", 0, 8) + "}", 8),
            "more than 2^63 elements"));
    CHECK(has(refused_safetensors("{" + entry("a", "F64", "[9223372036854775807]", 0, 8) + "}", 8),
              "more than 9.2e18"));
    CHECK(has(refused_safetensors("{" + entry("a", "F32", "[3]", 0, 8) + "}", 8),
              "8 bytes do not hold [3] of F32, which takes 12"));
    CHECK(has(refused_safetensors("{" + entry("a", "F4", "[3]", 0, 2) + "}", 2), "do not hold"));
    CHECK(
        has(refused_safetensors(
                "{" + entry("a", "U8", "[1]", 0, 1) + "," + entry("a", "U8", "[1]", 1, 2) + "}", 2),
            "w:1:"));
  }

  TEST_CASE("safetensors: data that overlap, that nobody owns, that end too early or late") {
    const std::string one = entry("a", "U8", "[4]", 0, 4);
    CHECK(has(refused_safetensors("{" + one + "," + entry("b", "U8", "[4]", 3, 7) + "}", 7),
              "begins at byte 3, but \"a\" ends at byte 4: they overlap"));
    CHECK(has(refused_safetensors("{" + one + "," + entry("b", "U8", "[4]", 5, 9) + "}", 9),
              "belong to nobody"));
    CHECK(has(refused_safetensors("{" + one + "}", 3), "it is cut short"));
    CHECK(has(refused_safetensors("{" + one + "}", 5), "nothing behind the last tensor"));
  }

  TEST_CASE("gguf: blocks of quantized types") {
    // Q4_K: 512 / 256 blocks x 144 B = 288; F32: 4 x 4 = 16 at the next multiple of 32;
    // MXFP4: 64 / 32 x 17 = 34; Q8_0 2 rows of 32: 2 x 34 = 68.
    const StoredWeights w =
        parse_gguf(Gguf()
                       .key("general.architecture", 8, counted("llama"))
                       .key("tokens", 9, u32(8) + u64(2) + counted("a") + counted(""))
                       .key("nested", 9, u32(9) + u64(1) + u32(4) + u64(1) + u32(7))
                       .key("flag", 7, "\1")
                       .tensor("q", {256, 2}, 12, 0)
                       .tensor("norm", {4}, 0, 288)
                       .tensor("x", {64}, 39, 320)
                       .tensor("k", {32, 2}, 8, 384)
                       .with_data(452)
                       .bytes(),
                   "w");
    REQUIRE(w.tensors.size() == 4);
    CHECK(w.tensors[0].dtype == "Q4_K");
    CHECK(w.tensors[0].bytes == ByteCount(288));
    CHECK(w.tensors[1].bytes == ByteCount(16));
    CHECK(w.tensors[2].bytes == ByteCount(34));
    CHECK(w.tensors[3].bytes == ByteCount(68));
    CHECK(total_bytes(w) == ByteCount(406));
    CHECK(total_elements(w) == 512 + 4 + 64 + 64);
  }

  TEST_CASE("gguf: bits a weight of each type") {
    struct Row {
      std::uint32_t id;
      const char* name;
      double bits;
    };
    // Bits as tables of the formats print them, not computed from the blocks.
    for (const Row& row :
         {Row{2, "Q4_0", 4.5},       Row{3, "Q4_1", 5},          Row{6, "Q5_0", 5.5},
          Row{7, "Q5_1", 6},         Row{8, "Q8_0", 8.5},        Row{10, "Q2_K", 2.625},
          Row{11, "Q3_K", 3.4375},   Row{12, "Q4_K", 4.5},       Row{13, "Q5_K", 5.5},
          Row{14, "Q6_K", 6.5625},   Row{15, "Q8_K", 9.125},     Row{16, "IQ2_XXS", 2.0625},
          Row{17, "IQ2_XS", 2.3125}, Row{18, "IQ3_XXS", 3.0625}, Row{19, "IQ1_S", 1.5625},
          Row{20, "IQ4_NL", 4.5},    Row{21, "IQ3_S", 3.4375},   Row{22, "IQ2_S", 2.5625},
          Row{23, "IQ4_XS", 4.25},   Row{29, "IQ1_M", 1.75},     Row{30, "BF16", 16},
          Row{34, "TQ1_0", 1.6875},  Row{35, "TQ2_0", 2.0625},   Row{39, "MXFP4", 4.25}}) {
      const GgufType* type = gguf_type(row.id);
      REQUIRE(type != nullptr);
      CHECK(type->name == row.name);
      CHECK(static_cast<double>(type->bytes) * 8 / static_cast<double>(type->elements) == row.bits);
    }
    CHECK(gguf_type(40) == nullptr);
  }

  TEST_CASE("gguf: a broken header says what is wrong and where") {
    CHECK(has(refused_gguf(""), "does not begin with \"GGUF\""));
    CHECK(has(refused_gguf("GGUF"), "the version"));
    CHECK(has(refused_gguf("GGUF" + u32(1)), "version 1; expected 2 or 3"));
    CHECK(has(refused_gguf("GGUF" + u32(0x03000000U)), "big-endian"));
    CHECK(has(refused_gguf("GGUF" + u32(3) + u64(std::uint64_t{1} << 62U) + u64(0)),
              "says it has 4611686018427387904 tensors; expected at most 262144"));
    CHECK(has(refused_gguf("GGUF" + u32(3) + u64(1000) + u64(0)),
              "a file of 24 bytes cannot hold them"));
    CHECK(has(refused_gguf("GGUF" + u32(3) + u64(0) + u64(9) + "0123456789"), "keys"));
    CHECK(has(refused_gguf(Gguf().key("", 4, u32(1)).bytes()), "has 0 bytes"));
    CHECK(has(refused_gguf(Gguf().key("a", 13, "xxxxxxxx").bytes()), "type 13 is not understood"));
    CHECK(has(refused_gguf(Gguf().key("a", 9, u32(10) + u64(std::uint64_t{1} << 61U)).bytes()),
              "an array of 2305843009213693952 items"));
    CHECK(has(refused_gguf(Gguf().key("a", 8, u64(1000)).bytes()), "1000 bytes expected"));
    CHECK(has(refused_gguf(Gguf().key("a", 4, u32(1)).key("a", 4, u32(1)).bytes()), "twice"));
    CHECK(has(refused_gguf(Gguf().key("general.alignment", 4, u32(3)).bytes()), "power of two"));
  }

  TEST_CASE("gguf: tensors that cannot be") {
    const auto one = [](const std::vector<std::uint64_t>& shape, std::uint32_t type,
                        std::uint64_t offset) {
      return refused_gguf(Gguf().tensor("t", shape, type, offset).with_data(64).bytes());
    };
    CHECK(one({16}, 0, 0) == "accepted");
    CHECK(has(one({17}, 0, 0), "it is cut short"));
    CHECK(has(one({1}, 0, std::uint64_t{1} << 62U), "it is cut short"));
    CHECK(has(one({8}, 0, 8), "no multiple of the alignment 32"));
    CHECK(has(one({100}, 12, 0), "rows of 100 are no whole blocks of 256"));
    CHECK(has(one({1}, 99, 0), "type 99 is not known"));
    CHECK(has(one({32}, 4, 0), "type 4 (Q4_2) was removed"));
    CHECK(has(one({1, 1, 1, 1, 1}, 0, 0), "5 dimensions"));
    CHECK(has(one({std::uint64_t{1} << 63U}, 0, 0), "more than 2^63"));
    CHECK(has(one({std::uint64_t{1} << 32U, std::uint64_t{1} << 32U}, 0, 0), "more than 2^63"));
    CHECK(has(one({std::uint64_t{1} << 62U}, 0, 0), "more than 2^63"));
    CHECK(has(
        refused_gguf(Gguf().tensor("a", {16}, 0, 0).tensor("b", {1}, 0, 32).with_data(96).bytes()),
        "b: its data begin at byte 32 of the data"));
    CHECK(has(
        refused_gguf(Gguf().tensor("a", {1}, 0, 0).tensor("a", {1}, 0, 32).with_data(96).bytes()),
        "this tensor is there twice"));
  }

  TEST_CASE("an index names the file of each tensor") {
    const Folder folder;
    folder.write("one.safetensors", safetensors("{" + entry("a", "BF16", "[2]", 0, 4) + "}", 4));
    folder.write("two.safetensors", safetensors("{" + entry("b", "F32", "[3]", 0, 12) + "," +
                                                    entry("c", "U8", "[1]", 12, 13) + "}",
                                                13));
    const auto index = [&](const std::string& map) {
      return folder.write("model.safetensors.index.json",
                          "{\"metadata\":{\"total_size\":17},\"weight_map\":{" + map + "}}");
    };
    index(R"("a":"one.safetensors","b":"two.safetensors","c":"two.safetensors")");
    const StoredWeights all = load_stored_weights(folder.path());
    CHECK(total_bytes(all) == ByteCount(17));
    CHECK(all.notes.empty());
    const std::string path = index(R"("a":"one.safetensors","b":"two.safetensors")");
    const StoredWeights some = load_stored_weights(path);
    CHECK(total_bytes(some) == ByteCount(16));
    CHECK(some.notes.size() == 2);  // c is not in the index; total_size says 17
    const auto read = [&] { load_stored_weights(path); };
    index(R"("a":"one.safetensors","x":"two.safetensors")");
    CHECK(has(refused(read), "x: is not in two.safetensors"));
    index(R"("a":"three.safetensors","b":"four.safetensors")");
    CHECK(has(refused(read), "three.safetensors"));
    CHECK(has(refused(read), "four.safetensors"));
    index(R"("a":"../one.safetensors")");
    CHECK(has(refused(read), "a file in the same folder"));
    index("");
    CHECK(has(refused(read), "weight_map: missing or empty"));
  }

  TEST_CASE("a folder without an index, a split gguf, and what is neither") {
    const Folder folder;
    const auto read = [&] { load_stored_weights(folder.path()); };
    CHECK(has(refused(read), "no weights"));
    const auto part = [](const char* name) {
      return Gguf()
          .key("split.count", 2, little_endian(2, 2))
          .tensor(name, {8}, 0, 0)
          .with_data(32)
          .bytes();
    };
    folder.write("m-00001-of-00002.gguf", part("a"));
    CHECK(has(refused(read), "m-00002-of-00002.gguf: error: no such file"));
    folder.write("m-00002-of-00002.gguf", part("b"));
    CHECK(total_bytes(load_stored_weights(folder.path())) == ByteCount(64));
    folder.write("other.gguf", Gguf().tensor("a", {8}, 0, 0).with_data(32).bytes());
    CHECK(has(refused(read), "several models"));
    folder.write("one.safetensors", safetensors("{" + entry("a", "BF16", "[2]", 0, 4) + "}", 4));
    CHECK(total_bytes(load_stored_weights(folder.path())) == ByteCount(4));
    folder.write("two.safetensors", safetensors("{" + entry("a", "BF16", "[2]", 0, 4) + "}", 4));
    CHECK(has(refused(read), "is in two files"));
    const std::string text = folder.write("notes.txt", "hello");
    CHECK(has(refused([&] { load_stored_weights(text); }), "expected *.safetensors"));
    CHECK(has(refused([&] { load_stored_weights(folder.path() + "/none.gguf"); }), "no such file"));
  }

  TEST_CASE("a header longer than the window that is read at once") {
    // 40,000 texts of 10 bytes and their lengths: 720 kB before the only tensor.
    std::string texts = u32(8) + u64(40'000);
    for (int i = 0; i < 40'000; ++i) texts += counted("0123456789");
    const Folder folder;
    const std::string path = folder.write(
        "long.gguf", Gguf().key("t", 9, texts).tensor("a", {8}, 0, 0).with_data(32).bytes());
    CHECK(total_bytes(load_stored_weights(path)) == ByteCount(32));
  }
}
