// SPDX-License-Identifier: Apache-2.0
#include "validation/observation/measured_rows.hpp"

#include <doctest/doctest.h>

#include "validation/observation/row_graph.hpp"

using namespace floorline;

namespace {

const std::string kGemmHeader = "gpu,dtype,m,n,k,best_us,median_us,n_meas,best_src\n";

MeasuredRows rows_of(const CsvTable& table, RowKind kind) {
  return read_rows(table, TableForm::measured, kind);
}

std::string refusal(const std::string& text, RowKind kind) {
  const CsvTable table = CsvTable::parse(text, "t.csv");
  try {
    rows_of(table, kind);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

double asked(const Demand& demand, std::string_view resource) {
  for (const DemandEntry& entry : demand.list()) {
    if (name_of(entry.resource) == resource) return entry.amount.in_base_units();
  }
  return 0;
}

/// What the row asks for, read at its face.
Demand demand_of_row(const RowKeys& keys) {
  RowGraphs graphs;
  return graphs.demand(keys, plain_reading(keys), {}).value();
}
RowKeys gemm(GemmDtype dtype, std::int64_t m, std::int64_t n, std::int64_t k) {
  return {RowKind::gemm, "h100_sxm", "", GemmKeys{dtype, m, n, k}};
}

}  // namespace

TEST_SUITE("validation") {
  TEST_CASE("rows: a product") {
    const CsvTable table =
        CsvTable::parse(kGemmHeader + "h100_sxm,fp8_block,1,32,128,2.5,3,4,vllm/0.9\n", "t.csv");
    const MeasuredRows all = rows_of(table, RowKind::gemm);
    REQUIRE(all.rows.size() == 1);
    const MeasuredRow& row = all.rows.front();
    CHECK(row.keys.gpu == "h100_sxm");
    CHECK(row.keys.source == "vllm/0.9");
    CHECK(row.time.in_base_units() == doctest::Approx(2.5e-6));
    CHECK(row.line == 2);
    const auto& keys = std::get<GemmKeys>(row.keys.work);
    CHECK(keys.dtype == GemmDtype::fp8_block);
    CHECK(keys.n == 32);
    CHECK(describe(row.keys) == "gemm fp8_block m=1 n=32 k=128");
    CHECK(variant_of(row.keys) == "fp8_block");
  }

  TEST_CASE("rows: attention and collectives") {
    const CsvTable decode = CsvTable::parse(
        "gpu,attn_dtype,kv_dtype,batch,seq_kv,heads_q,heads_kv,head_dim,window,best_us,median_us,"
        "n_meas,best_src\nl40s,bfloat16,fp8,4,1000,8,2,128,512,9,9,1,sglang/1\n",
        "t.csv");
    const RowKeys keys = rows_of(decode, RowKind::attn_decode).rows.at(0).keys;
    const auto& attention = std::get<AttentionKeys>(keys.work);
    CHECK(attention.kv == Precision::fp8_e4m3);
    CHECK(attention.q_len == 1);
    CHECK(attention.kv_len == 1000);
    CHECK(attention.window == 512);
    CHECK(describe(keys) == "attn_decode bf16/fp8_e4m3 4x1000 heads 8/2 dim 128 window 512");

    const CsvTable nccl = CsvTable::parse(
        "gpu,op,dtype,gpus,bytes,best_us,median_us,n_meas,best_src\n"
        "a100_sxm,alltoall,half,8,1024,9,9,1,nccl/2\n",
        "t.csv");
    const RowKeys call = rows_of(nccl, RowKind::nccl).rows.at(0).keys;
    CHECK(std::get<CollectiveRowKeys>(call.work).op == OperatorKind::all_to_all);
    CHECK(std::get<CollectiveRowKeys>(call.work).ranks == 8);
  }

  TEST_CASE("rows: what is not known is not judged, with the reason") {
    const CsvTable table = CsvTable::parse(
        kGemmHeader + "h100_sxm,fp6,1,1,1,2,2,1,x\nh100_sxm,fp8,1,1,1,2,2,1,x\n", "t.csv");
    const MeasuredRows all = rows_of(table, RowKind::gemm);
    REQUIRE(all.unread.size() == 1);
    CHECK(all.rows.size() == 1);
    CHECK(all.unread.front().reason == "dtype \"fp6\" is not known");
    CHECK(all.unread.front().gpu == "h100_sxm");
    CHECK(all.unread.front().line == 2);

    const CsvTable nccl = CsvTable::parse(
        "gpu,op,dtype,gpus,bytes,best_us,median_us,n_meas,best_src\n"
        "l40s,all_to_all,half,8,1024,9,9,1,x\nl40s,all_reduce,half,3,1024,9,9,1,x\n",
        "t.csv");
    const MeasuredRows calls = rows_of(nccl, RowKind::nccl);
    CHECK(calls.rows.empty());
    CHECK(calls.unread.at(0).reason == "op \"all_to_all\" is not known");  // the files' is alltoall
    CHECK(calls.unread.at(1).reason == "bytes is no multiple of gpus");
  }

  TEST_CASE("rows: columns must be those of the kind") {
    CHECK(refusal("gpu,dtype,m,n,k,best_us,median_us,n_meas,source\n", RowKind::gemm) ==
          "t.csv:1:1: error: best_src: missing; expected this column\n"
          "t.csv:1:1: error: source: is not a column of this table");
    CHECK(refusal("gpu,dtype,m,n,K,best_us,median_us,n_meas,best_src\n", RowKind::gemm)
              .find("K: is not a column of this table; did you mean \"k\"?") != std::string::npos);
  }

  TEST_CASE("rows: cells must be counts and times") {
    CHECK(
        refusal(kGemmHeader + "x,fp8,0,1.5,-3,0,nan,1,s\n", RowKind::gemm) ==
        "t.csv:2:7: error: m: \"0\" is not one; expected a whole number from 1 to 2^53\n"
        "t.csv:2:9: error: n: \"1.5\" is not one; expected a whole number from 1 to 2^53\n"
        "t.csv:2:13: error: k: \"-3\" is not one; expected a whole number from 1 to 2^53\n"
        "t.csv:2:16: error: best_us: \"0\" is not one; expected a time above zero in microseconds\n"
        "t.csv:2:18: error: median_us: \"nan\" is not one; expected a time above zero in "
        "microseconds");
  }

  TEST_CASE("rows: products of each dtype, 3 x 5 x 8 by hand") {
    // F = 2 x 3 x 5 x 8 = 240; x has 24 elements, the weight 40, y 15 of 2 bytes = 30
    struct Expected {
      GemmDtype dtype;
      const char* unit;
      double read;
    };
    for (const Expected& e : {Expected{GemmDtype::bfloat16, "tensor.bf16.any", 128},  // 48 + 80
                              Expected{GemmDtype::fp8, "tensor.fp8_e4m3.any", 88},    // 48 + 40
                              Expected{GemmDtype::int8_wo, "tensor.bf16.any", 88},    // 48 + 40
                              Expected{GemmDtype::int4_wo, "tensor.bf16.any", 68},    // 48 + 20
                              Expected{GemmDtype::nvfp4, "tensor.any.any", 34.5}}) {  // 12 + 22.5
      CAPTURE(name_of(e.dtype));
      const Demand demand = demand_of_row(gemm(e.dtype, 3, 5, 8));
      CHECK(demand.flops.in_base_units() == 240);
      CHECK(asked(demand, e.unit) == 240);
      CHECK(demand.hbm_read.in_base_units() == e.read);
      CHECK(demand.hbm_write.in_base_units() == 30);
    }
  }

  TEST_CASE("rows: attention of each phase by hand") {
    // 2 sequences of 3 tokens, 4 query heads, 2 of keys, head 8.
    AttentionKeys keys{Precision::bf16, Precision::bf16, 2, 3, 3, 4, 2, 8, 0};
    // causal: 6 pairs a sequence; F = 2 x 6 x 4 x (16 + 16)
    const Demand context = demand_of_row({RowKind::attn_context, "", "", keys});
    CHECK(context.flops.in_base_units() == 1536);
    // Q 2x3x4x8 = 192 elements, K and V 96 each: 384 x 2 bytes; O as Q
    CHECK(context.hbm_read.in_base_units() == 768);
    CHECK(context.hbm_write.in_base_units() == 384);
    // every query sees 3 keys: 9 pairs
    const Demand encoder = demand_of_row({RowKind::attn_encoder, "", "", keys});
    CHECK(encoder.flops.in_base_units() == 2304);
    // one token, window 2 of 3 keys in one byte: pairs 2; Q 64 elements, K and V 2x2x2x8 = 64 each
    keys.q_len = 1;
    keys.window = 2;
    keys.kv = Precision::fp8_e4m3;
    const Demand decode = demand_of_row({RowKind::attn_decode, "", "", keys});
    CHECK(decode.flops.in_base_units() == 512);
    CHECK(decode.hbm_read.in_base_units() == 256);  // 128 + 64 + 64
    CHECK(decode.hbm_write.in_base_units() == 128);
  }

  TEST_CASE("rows: one graph is rebound for rows of one class and leaves nothing behind") {
    RowGraphs graphs;
    const RowKeys small = gemm(GemmDtype::bfloat16, 1, 2, 3);
    const RowKeys large = gemm(GemmDtype::bfloat16, 10, 20, 30);
    const auto flops_of = [&](const RowKeys& keys) {
      return graphs.demand(keys, plain_reading(keys), {})->flops.in_base_units();
    };
    CHECK(flops_of(small) == 12);
    CHECK(flops_of(large) == 12000);
    CHECK(flops_of(small) == 12);
    // 2^53 elements is the most that a tensor may have
    CHECK_FALSE(graphs.demand(gemm(GemmDtype::bfloat16, 1LL << 30, 1, 1LL << 30),
                              plain_reading(small), {}));
  }
}
