// SPDX-License-Identifier: Apache-2.0
// Blocks of ggml's types (ggml/src/ggml-common.h, ggml.h): a table.
#include <array>

#include "model/workload/weights_file/gguf_file.hpp"

namespace floorline {

namespace {

constexpr std::int64_t kBlock = 32;
constexpr std::int64_t kSuper = 256;

constexpr std::array kTypes{
    GgufType{"F32", 1, 4},
    GgufType{"F16", 1, 2},
    GgufType{"Q4_0", kBlock, 18},
    GgufType{"Q4_1", kBlock, 20},
    GgufType{"Q4_2", kBlock, 0},
    GgufType{"Q4_3", kBlock, 0},
    GgufType{"Q5_0", kBlock, 22},
    GgufType{"Q5_1", kBlock, 24},
    GgufType{"Q8_0", kBlock, 34},
    GgufType{"Q8_1", kBlock, 36},
    GgufType{"Q2_K", kSuper, 84},
    GgufType{"Q3_K", kSuper, 110},
    GgufType{"Q4_K", kSuper, 144},
    GgufType{"Q5_K", kSuper, 176},
    GgufType{"Q6_K", kSuper, 210},
    GgufType{"Q8_K", kSuper, 292},
    GgufType{"IQ2_XXS", kSuper, 66},
    GgufType{"IQ2_XS", kSuper, 74},
    GgufType{"IQ3_XXS", kSuper, 98},
    GgufType{"IQ1_S", kSuper, 50},
    GgufType{"IQ4_NL", kBlock, 18},
    GgufType{"IQ3_S", kSuper, 110},
    GgufType{"IQ2_S", kSuper, 82},
    GgufType{"IQ4_XS", kSuper, 136},
    GgufType{"I8", 1, 1},
    GgufType{"I16", 1, 2},
    GgufType{"I32", 1, 4},
    GgufType{"I64", 1, 8},
    GgufType{"F64", 1, 8},
    GgufType{"IQ1_M", kSuper, 56},
    GgufType{"BF16", 1, 2},
    GgufType{"Q4_0_4_4", kBlock, 0},
    GgufType{"Q4_0_4_8", kBlock, 0},
    GgufType{"Q4_0_8_8", kBlock, 0},
    GgufType{"TQ1_0", kSuper, 54},
    GgufType{"TQ2_0", kSuper, 66},
    GgufType{"IQ4_NL_4_4", kBlock, 0},
    GgufType{"IQ4_NL_4_8", kBlock, 0},
    GgufType{"IQ4_NL_8_8", kBlock, 0},
    GgufType{"MXFP4", kBlock, 17},
};

}  // namespace

const GgufType* gguf_type(std::uint32_t id) { return id < kTypes.size() ? &kTypes[id] : nullptr; }

}  // namespace floorline
