// SPDX-License-Identifier: Apache-2.0
// The suite as data: one line an experiment, with its sizes for a test, a CPU and a GPU. An empty
// text: not in the suite at that scale. Sizes of a CPU are tens of MiB (a few milliseconds at
// 10 GB/s), of a GPU up to GiB (as long at TB/s).
#include <array>

#include "validation/experiment/experiment.hpp"

namespace floorline {

namespace {

struct TableRow {
  const char* name;
  const char* tiny;
  const char* host;
  const char* device;
};

constexpr std::array kRows{
    TableRow{"stream_copy", "copy n=1000", "copy n=4194304", "copy n=268435456"},
    TableRow{"stream_copy_narrow_loads", "copy n=1000 vector=1", "", "copy n=268435456 vector=1"},
    TableRow{"stream_copy_wide_loads", "copy n=1000 vector=4", "", "copy n=268435456 vector=4"},
    TableRow{"triad", "triad n=1001", "triad n=2097152", "triad n=134217728"},
    TableRow{"triad_bf16", "triad n=1001 in=bf16", "triad n=4194304 in=bf16",
             "triad n=268435456 in=bf16"},
    TableRow{"vector_add", "vector_add n=999", "vector_add n=2097152", "vector_add n=134217728"},
    TableRow{"vector_add_fp16", "vector_add n=999 in=fp16", "vector_add n=4194304 in=fp16",
             "vector_add n=268435456 in=fp16"},
    TableRow{"strided_1", "strided n=500 stride=1", "strided n=262144 stride=1",
             "strided n=16777216 stride=1"},
    TableRow{"strided_2", "strided n=500 stride=2", "strided n=262144 stride=2",
             "strided n=16777216 stride=2"},
    TableRow{"strided_4", "strided n=500 stride=4", "strided n=262144 stride=4",
             "strided n=16777216 stride=4"},
    TableRow{"strided_8", "strided n=500 stride=8", "strided n=262144 stride=8",
             "strided n=16777216 stride=8"},
    TableRow{"strided_16", "strided n=500 stride=16", "strided n=262144 stride=16",
             "strided n=16777216 stride=16"},
    TableRow{"strided_32", "strided n=500 stride=32", "strided n=262144 stride=32",
             "strided n=16777216 stride=32"},
    TableRow{"strided_64", "strided n=500 stride=64", "strided n=262144 stride=64",
             "strided n=16777216 stride=64"},
    TableRow{"gather_random", "gather n=700 rows=4000", "gather n=524288 rows=8388608",
             "gather n=16777216 rows=16777216"},
    TableRow{"launch_chain", "launch_chain n=4 count=8", "launch_chain n=1024 count=20",
             "launch_chain n=1024 count=200"},
    TableRow{"launch_chain_graph", "launch_chain n=4 count=8 graph=1",
             "launch_chain n=1024 count=20 graph=1", "launch_chain n=1024 count=200 graph=1"},
    TableRow{"atomic_sum", "atomic_sum n=1000", "atomic_sum n=262144", "atomic_sum n=16777216"},
    TableRow{"two_stage_sum", "two_stage_sum n=1000", "two_stage_sum n=262144",
             "two_stage_sum n=16777216"},
    TableRow{"two_stage_sum_large", "two_stage_sum n=10007", "two_stage_sum n=8388608",
             "two_stage_sum n=268435456"},
    TableRow{"layernorm_three", "layernorm_three rows=7 cols=96 in=bf16",
             "layernorm_three rows=2048 cols=4096 in=bf16",
             "layernorm_three rows=16384 cols=4096 in=fp16"},
    TableRow{"layernorm_one", "layernorm rows=7 cols=96 in=bf16",
             "layernorm rows=2048 cols=4096 in=bf16", "layernorm rows=16384 cols=4096 in=fp16"},
    TableRow{"layernorm_fp32", "layernorm rows=5 cols=100 in=fp32",
             "layernorm rows=2048 cols=4096 in=fp32", "layernorm rows=16384 cols=4096 in=fp32"},
    TableRow{"layernorm_compute", "layernorm rows=5 cols=100 in=fp32 compute=fp64 accumulate=fp64",
             "layernorm rows=2048 cols=4096 in=fp32 compute=fp64 accumulate=fp64",
             "layernorm rows=16384 cols=4096 in=fp32 compute=fp16 accumulate=fp32"},
    TableRow{"residual_norm_dropout", "residual_norm rows=6 cols=80 in=bf16",
             "residual_norm rows=2048 cols=2048 in=bf16",
             "residual_norm rows=16384 cols=4096 in=fp16"},
    TableRow{"residual_norm_dropout_one", "residual_norm_one rows=6 cols=80 in=bf16",
             "residual_norm_one rows=2048 cols=2048 in=bf16",
             "residual_norm_one rows=16384 cols=4096 in=fp16"},
    TableRow{"softmax", "softmax rows=9 cols=77", "softmax rows=2048 cols=2048",
             "softmax rows=16384 cols=4096"},
    TableRow{"gemm_square_fp32", "gemm m=33 n=40 k=37", "gemm m=512 n=512 k=512",
             "gemm m=8192 n=8192 k=8192"},
    TableRow{"gemm_square_fp64", "gemm m=20 n=24 k=31 in=fp64", "gemm m=384 n=384 k=384 in=fp64",
             "gemm m=4096 n=4096 k=4096 in=fp64"},
    TableRow{"gemm_square_tf32", "gemm m=32 n=32 k=32 compute=tf32",
             "gemm m=512 n=512 k=512 compute=tf32", "gemm m=8192 n=8192 k=8192 compute=tf32"},
    TableRow{"gemm_square_bf16", "gemm m=32 n=32 k=32 in=bf16", "gemm m=512 n=512 k=512 in=bf16",
             "gemm m=8192 n=8192 k=8192 in=bf16"},
    TableRow{"gemm_square_fp16", "gemm m=32 n=32 k=32 in=fp16", "gemm m=512 n=512 k=512 in=fp16",
             "gemm m=8192 n=8192 k=8192 in=fp16"},
    TableRow{"gemm_unaligned", "gemm m=31 n=33 k=35", "gemm m=511 n=511 k=511",
             "gemm m=8191 n=8191 k=8191 in=bf16"},
    TableRow{"gemm_skinny", "gemm m=4 n=64 k=48", "gemm m=16 n=2048 k=2048",
             "gemm m=16 n=8192 k=8192 in=bf16"},
    TableRow{"attention_naive", "attention_naive heads=2 q_len=17 kv_len=29 head_dim=16",
             "attention_naive heads=4 q_len=256 kv_len=512 head_dim=64",
             "attention_naive batch=4 heads=32 q_len=2048 kv_len=2048 head_dim=128 in=fp16"},
    TableRow{"attention_tiled", "attention_tiled heads=2 q_len=17 kv_len=29 head_dim=16",
             "attention_tiled heads=4 q_len=256 kv_len=512 head_dim=64",
             "attention_tiled batch=4 heads=32 q_len=2048 kv_len=2048 head_dim=128 in=fp16"},
    TableRow{
        "attention_tiled_causal", "attention_tiled heads=2 q_len=17 kv_len=29 head_dim=16 causal=1",
        "attention_tiled heads=4 q_len=256 kv_len=512 head_dim=64 causal=1",
        "attention_tiled batch=4 heads=32 q_len=2048 kv_len=2048 head_dim=128 causal=1 in=fp16"},
    TableRow{"gemv_decode", "gemv n=70 k=90", "gemv n=2048 k=4096", "gemv n=8192 k=8192 in=bf16"},
    TableRow{"dependency_chain", "dependency_chain n=100 count=16",
             "dependency_chain n=32768 count=1024", "dependency_chain n=1048576 count=4096"},
    TableRow{"independent_work", "independent_work n=100 count=16 streams=4",
             "independent_work n=32768 count=1024 streams=8",
             "independent_work n=1048576 count=4096 streams=8"},
    TableRow{"overlap_one_stream", "overlap bytes=4096B count=4 streams=1",
             "overlap bytes=64MiB count=4 streams=1", "overlap bytes=256MiB count=16 streams=1"},
    TableRow{"overlap_two_streams", "overlap bytes=4096B count=4 streams=2",
             "overlap bytes=64MiB count=4 streams=2", "overlap bytes=256MiB count=16 streams=2"},
    TableRow{"peer_copy", "peer_copy bytes=4096B", "peer_copy bytes=64MiB",
             "peer_copy bytes=256MiB"},
    TableRow{"all_reduce", "all_reduce bytes=4096B ranks=2", "all_reduce bytes=64MiB ranks=2",
             "all_reduce bytes=256MiB ranks=2"},
};

const char* text_at(const TableRow& row, Scale scale) {
  switch (scale) {
    case Scale::tiny:
      return row.tiny;
    case Scale::host:
      return row.host;
    case Scale::device:
      return row.device;
  }
  return "";
}

void add_experiment(std::vector<ExperimentSpec>& all, std::string name, std::string_view text) {
  all.push_back(parse_experiment(text));
  all.back().name = std::move(name);
}

/// Copies over the link in steps of 16 from 64 B to 1 GiB, so that a line through the times shows
/// latency, half-performance size and bandwidth.
void add_transfers(std::vector<ExperimentSpec>& all, Scale scale) {
  constexpr std::int64_t kGiB = std::int64_t{1} << 30;
  const std::int64_t most = scale == Scale::device ? kGiB : 4096;
  for (const char* kind : {"h2d", "d2h"}) {
    for (const int pinned : {1, 0}) {
      for (std::int64_t bytes = 64; bytes <= most; bytes *= 16) {
        const std::string size = std::to_string(bytes) + "B";
        const char* memory = pinned == 1 ? "pinned" : "pageable";
        add_experiment(all, std::string(kind) + "_" + memory + "_" + size,
                       std::string(kind) + " bytes=" + size + " pinned=" + std::to_string(pinned));
      }
    }
  }
}

}  // namespace

std::vector<ExperimentSpec> experiment_table(Scale scale) {
  std::vector<ExperimentSpec> all;
  for (const TableRow& row : kRows) {
    const std::string_view text = text_at(row, scale);
    if (!text.empty()) add_experiment(all, row.name, text);
  }
  add_transfers(all, scale);
  return all;
}

}  // namespace floorline
