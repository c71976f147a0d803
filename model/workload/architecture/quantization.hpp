// SPDX-License-Identifier: Apache-2.0
// quantization_config of a checkpoint: which weights are stored in which format, with what scales,
// and the precision that products with them compute in. Internal to the config reader.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/workload/architecture.hpp"
#include "model/workload/architecture/module_pattern.hpp"

namespace floorline {

class TableReader;

/// What one scale is shared by.
enum class ScaleOf : std::uint8_t {
  none,     ///< no scale, or one that the storage precision includes (mxfp4, nvfp4)
  tensor,   ///< a matrix
  channel,  ///< a row
  block,    ///< scale_rows × scale_cols elements
  group,    ///< scale_cols elements of a row
};

struct WeightFormat {
  Precision storage = Precision::none;
  Precision compute = Precision::none;  ///< none: the wider operand
  ScaleOf scale_of = ScaleOf::none;
  std::int64_t scale_rows = 1;
  std::int64_t scale_cols = 1;
  Precision scale = Precision::fp32;
  Precision zero = Precision::none;  ///< zero points, one beside each scale; none: symmetric
  bool tensor_scale = false;         ///< one fp32 for the matrix besides
  bool input_scale = false;          ///< one fp32 for its activations
  bool order = false;                ///< an int32 for each input (GPTQ's g_idx with desc_act)
  std::string text;                  ///< "fp8_e4m3, scales of 128 x 128"
};

struct Quantization {
  WeightFormat format;
  std::vector<ModulePattern> kept;  ///< modules that are not quantized
  bool head = false;                ///< lm_head is quantized too unless kept
  Precision kv_dtype = Precision::none;
  std::vector<std::string> assumptions;
};

/// Reads `quantization_config`; absent or null: nothing happens. Layers that differ in what is
/// quantized become kinds of their own.
void read_quantization(TableReader& config, Architecture& architecture);
/// The second half of it, for tests.
void apply_quantization(const Quantization& quantization, Architecture& architecture);

}  // namespace floorline
