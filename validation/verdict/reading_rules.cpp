// SPDX-License-Identifier: Apache-2.0
#include "validation/verdict/reading_rules.hpp"

#include <array>

namespace floorline {

namespace {

constexpr std::int64_t kSglangWideHead = 192;
constexpr std::int64_t kSglangValueHead = 128;
constexpr std::int64_t kLlama4Chunk = 8192;
constexpr std::int64_t kLlama4Group = 5;  // 40 query heads over 8 of keys, or a tp share of them
constexpr Bytes kNcclBuffers(32 * 4194304.0);  // NCCL_BUFFSIZE of each of MAXCHANNELS

const AttentionKeys* attention_of(const RowKeys& keys) {
  return std::get_if<AttentionKeys>(&keys.work);
}

const LatentKeys* latent_of(const RowKeys& keys) { return std::get_if<LatentKeys>(&keys.work); }

bool is_ampere_node(std::string_view node) {
  return node == "a100_dgx" || node == "a100_pairwise_nvlink";
}

bool has_dtype(const RowKeys& keys, GemmDtype a, GemmDtype b) {
  const auto* gemm = std::get_if<GemmKeys>(&keys.work);
  return gemm != nullptr && (gemm->dtype == a || gemm->dtype == b);
}

constexpr std::array kRules{
    ReadingRule{
        "fp8_scores", "attn_*: attn_dtype = bfloat16, kv_dtype = fp8; mla_*: kv_dtype = fp8",
        "products at the fp8 rate, where the device has one",
        "several backends quantize Q as well (README of the data)",
        [](const RowKeys& keys, const OnChip&) {
          const LatentKeys* latent = latent_of(keys);
          if (latent != nullptr) return latent->kv == Precision::fp8_e4m3;
          const AttentionKeys* a = attention_of(keys);
          return a != nullptr && a->attention == Precision::bf16 && a->kv == Precision::fp8_e4m3;
        },
        [](Reading& reading) {
          reading.otherwise = reading.compute;
          reading.compute = Precision::fp8_e4m3;
        }},
    ReadingRule{
        "value_head", "attn_*: head_dim = 192", "the value head is 128",
        "SGLang collects heads of 192 with values of 128 (README of the data); best_src may be "
        "another backend, and the weaker reading is taken for all",
        [](const RowKeys& keys, const OnChip&) {
          const AttentionKeys* a = attention_of(keys);
          return a != nullptr && a->head_dim == kSglangWideHead;
        },
        [](Reading& reading) { reading.v_dim = kSglangValueHead; }},
    ReadingRule{
        "chunked_window", "attn_*: window = 8192, heads_q = 5 x heads_kv",
        "attention within chunks of 8192 keys, not a window that slides",
        "Llama-4 (40 query heads, 8 of keys) is chunked (README of the data, inferred there)",
        [](const RowKeys& keys, const OnChip&) {
          const AttentionKeys* a = attention_of(keys);
          return a != nullptr && a->window == kLlama4Chunk &&
                 a->q_heads == kLlama4Group * a->kv_heads;
        },
        [](Reading& reading) { reading.chunked = true; }},
    ReadingRule{
        "narrow_input", "gemm: dtype = int8_sq or fp8_static", "x enters with one byte an element",
        "the scale of x is given beforehand, so that x may be quantized outside of the timed graph",
        [](const RowKeys& keys, const OnChip&) {
          return has_dtype(keys, GemmDtype::int8_sq, GemmDtype::fp8_static);
        },
        [](Reading& reading) { reading.in = reading.second; }},
    ReadingRule{
        "int8_products", "gemm: dtype = int8_sq or int8_w8a8", "products at the int8 rate",
        "SmoothQuant multiplies 8-bit by 8-bit; int8_w8a8 is filed as weight-only by its collector "
        "and was renamed by the split (README of the data)",
        [](const RowKeys& keys, const OnChip&) {
          return has_dtype(keys, GemmDtype::int8_sq, GemmDtype::int8_w8a8);
        },
        [](Reading& reading) { reading.compute = Precision::int8; }},
    ReadingRule{
        "fabric_sum",
        "all_reduce of nccl, custom_allreduce and vidur_collective, on devices with "
        "topology.in_network_reduction and where nodes are crossed",
        "bytes each way instead of 2(p-1)/p x bytes",
        "NVLink SHARP adds in the switch (NCCL documentation), a network's switches may; which "
        "algorithm ran is not recorded",
        [](const RowKeys& keys, const OnChip& chip) {
          const auto* c = std::get_if<CollectiveRowKeys>(&keys.work);
          return c != nullptr && c->op == OperatorKind::all_reduce &&
                 (chip.in_network_reduction_possible || c->crosses_nodes());
        },
        [](Reading& reading) { reading.fabric_reduces = true; }},
    ReadingRule{"two_matrices", "moe: inter = 1856, 2688 or 5120",
                "experts of two matrices, up and down, not three",
                "the models of these sizes are not gated (README of the data)",
                [](const RowKeys& keys, const OnChip&) {
                  const auto* moe = std::get_if<MoeKeys>(&keys.work);
                  return moe != nullptr &&
                         (moe->inter == 1856 || moe->inter == 2688 || moe->inter == 5120);
                },
                [](Reading& reading) { reading.gated = false; }},
    ReadingRule{"whole_microseconds", "vidur_*", "min_us may stand for almost 1 us more",
                "kernel times of whole microseconds (README of the data)",
                [](const RowKeys& keys, const OnChip&) {
                  return keys.kind == RowKind::vidur_linear ||
                         keys.kind == RowKind::vidur_elementwise ||
                         keys.kind == RowKind::vidur_collective;
                },
                [](Reading& reading) { reading.resolution = microseconds(1); }},
    ReadingRule{
        "sender_buffers", "vidur_collective: op = send_recv on a100_* nodes or from node to node",
        "only what is beyond NCCL's buffers (32 channels of 4 MiB) crosses while the kernel runs",
        "rank 0, whose kernel was timed, sends (Vidur, collectives_impl.py); on compute capability "
        "8.0 the receiver reads the sender's buffers (NCCL, graph/paths.cc), over a network a "
        "proxy does: the sender's kernel may end before they are empty",
        [](const RowKeys& keys, const OnChip&) {
          const auto* c = std::get_if<CollectiveRowKeys>(&keys.work);
          return c != nullptr && c->op == OperatorKind::send_recv &&
                 (is_ampere_node(keys.gpu) || c->crosses_nodes());
        },
        [](Reading& reading) { reading.buffered = kNcclBuffers; }},
    ReadingRule{"waiting_requests", "serving_e2e: silicon_tpot_ms",
                "one sequence decodes, not concurrency or batch_size",
                "concurrency counts requests in flight, those that wait for their first token as "
                "well, and batch_size is the engine's limit: how many decoded together is not "
                "recorded",
                [](const RowKeys& keys, const OnChip&) {
                  const auto* serving = std::get_if<ServingKeys>(&keys.work);
                  return serving != nullptr && !serving->first_token;
                },
                [](Reading& reading) { reading.one_sequence = true; }},
};
static_assert(kRules.size() <= kMaxReadingRules);

}  // namespace

std::span<const ReadingRule> reading_rules() { return kRules; }

Reading read_row(const RowKeys& keys, const OnChip& chip, const ReadingRule* left_out) {
  Reading reading = plain_reading(keys);
  for (const ReadingRule& rule : kRules) {
    if (&rule != left_out && rule.covers(keys, chip)) rule.apply(reading);
  }
  return reading;
}

}  // namespace floorline
