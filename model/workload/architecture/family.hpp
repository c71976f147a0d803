// SPDX-License-Identifier: Apache-2.0
// What a family of models gives the config reader: one function in its own file, declared here, and
// one row in the table of architecture_file.cpp.
#pragma once

#include "model/workload/architecture.hpp"

namespace floorline {

class TableReader;

/// Reads the keys of a family; errors go to the reader's diagnostics, sizes in error read as 0.
using ReadFamily = Architecture (*)(TableReader& config);

Architecture read_deepseek_v2(TableReader& config);
Architecture read_deepseek_v3(TableReader& config);
Architecture read_deepseek_v32(TableReader& config);
Architecture read_gemma2(TableReader& config);
Architecture read_gemma3_text(TableReader& config);
Architecture read_gemma4_text(TableReader& config);
Architecture read_gpt_oss(TableReader& config);
Architecture read_kimi_k2(TableReader& config);
Architecture read_llama(TableReader& config);
Architecture read_llama4_text(TableReader& config);
Architecture read_mimo(TableReader& config);
Architecture read_minimax_m2(TableReader& config);
Architecture read_mistral(TableReader& config);
Architecture read_mixtral(TableReader& config);
Architecture read_nemotron(TableReader& config);
Architecture read_nemotron_h(TableReader& config);
Architecture read_phi3(TableReader& config);
Architecture read_qwen2(TableReader& config);
Architecture read_qwen3(TableReader& config);
Architecture read_qwen3_5_moe_text(TableReader& config);
Architecture read_qwen3_5_text(TableReader& config);
Architecture read_qwen3_moe(TableReader& config);

}  // namespace floorline
