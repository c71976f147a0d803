// SPDX-License-Identifier: Apache-2.0
// Rows of experts, latent attention, quantization, Vidur and serving, each worked by hand.
#include <doctest/doctest.h>

#include <filesystem>

#include "validation/verdict/judge.hpp"

using namespace floorline;

namespace {

const DevicePath kDevices{{"devices"}};

MeasuredRows rows_of(const CsvTable& table, RowKind kind) {
  return read_rows(table, TableForm::measured, kind);
}
Demand demand_of_row(const RowKeys& keys, Reading reading) {
  RowGraphs graphs;
  return graphs.demand(keys, reading, {}).value();
}
Demand demand_of_row(const RowKeys& keys) { return demand_of_row(keys, plain_reading(keys)); }

double flops(const Demand& demand) { return demand.flops.in_base_units(); }
double reads(const Demand& demand) { return demand.hbm_read.in_base_units(); }
double writes(const Demand& demand) { return demand.hbm_write.in_base_units(); }
std::string unit(const Demand& demand) { return name_of(demand.list().front().resource); }

MoeKeys moe_keys(std::int64_t tokens, std::int64_t ep) {
  return {MoeDtype::bfloat16, tokens, 8, 6, 2, 4, 1, ep, "balanced"};
}
RowKeys moe(const MoeKeys& keys) { return {RowKind::moe, "h100_sxm", "", keys}; }
RowKeys message(std::string_view node, OperatorKind op, std::int64_t ranks, std::int64_t per_node) {
  return {RowKind::vidur_collective, node, "",
          CollectiveRowKeys{op, "", ranks, 67108864, per_node}};
}
const ReadingRule& rule(std::string_view id) {
  for (const ReadingRule& r : reading_rules()) {
    if (r.id == id) return r;
  }
  throw std::logic_error("no such rule");
}
double any_us(const RowVerdict& row) { return row.any.time().in_base_units() * 1e6; }

const std::string kServingHeader =
    "id,concurrency,backend,backend_version,model_path,gpu,precision,mode,isl,osl,gemm_quant_mode,"
    "moe_quant_mode,batch_size,tp_size,pp_size,attention_dp_size,moe_tp_size,moe_ep_size,"
    "prefill_batch_size,prefill_num_workers,prefill_tp_size,prefill_pp_size,"
    "prefill_attention_dp_size,prefill_moe_tp_size,prefill_moe_ep_size,decode_batch_size,"
    "decode_num_workers,decode_tp_size,decode_pp_size,decode_attention_dp_size,decode_moe_tp_size,"
    "decode_moe_ep_size,silicon_ttft_ms,silicon_tpot_ms\n";

}  // namespace

TEST_SUITE("validation") {
  TEST_CASE("rows: experts, 4 tokens, 2 of 4 experts of 8 x 6") {
    const Demand least = demand_of_row(moe(moe_keys(4, 1)));
    // 8 rows x 2 x 3 x 48 = 2304; 2 experts of 3 x 48 x 2 B = 576 and 4 tokens of 16 B
    CHECK(flops(least) == 2304);
    CHECK(reads(least) == 640);
    CHECK(writes(least) == 64);
    CHECK(unit(least) == "tensor.bf16.any");
    Reading reading = plain_reading(moe(moe_keys(4, 1)));
    reading.gated = false;  // 8 rows x 2 x 2 x 48; 2 x 2 x 48 x 2 B + 64
    CHECK(flops(demand_of_row(moe(moe_keys(4, 1)), reading)) == 1536);
    CHECK(reads(demand_of_row(moe(moe_keys(4, 1)), reading)) == 448);
    reading.gated = true;
    reading.routing = Routing::uniform;  // 4 (1 - 1/2^4) = 3.75 experts of 288 B + 64
    CHECK(reads(demand_of_row(moe(moe_keys(4, 1)), reading)) == 1144);
  }

  TEST_CASE("rows: experts of one rank of several") {
    // two ranks: 4 rows, one expert of the two, of at least 2 tokens
    const Demand two = demand_of_row(moe(moe_keys(4, 2)));
    CHECK(flops(two) == 1152);
    CHECK(reads(two) == 320);
    CHECK(writes(two) == 32);
    // one token over four ranks: half a row and half an expert a rank
    const Demand four = demand_of_row(moe(moe_keys(1, 4)));
    CHECK(flops(four) == 144);
    CHECK(reads(four) == 160);  // 144 + 16
    MoeKeys half = moe_keys(4, 1);
    half.tp = 2;
    half.dtype = MoeDtype::int4_wo;  // half of each expert in half a byte: 2 x 72 x 0.5 + 64
    CHECK(flops(demand_of_row(moe(half))) == 1152);
    CHECK(reads(demand_of_row(moe(half))) == 136);
  }

  TEST_CASE("rows: latent attention") {
    // decode: 2 sequences, 3 tokens each, 4 heads: 24 pairs x 2 (576 + 512)
    const Demand decode =
        demand_of_row({RowKind::mla_decode, "", "", LatentKeys{Precision::bf16, 2, 1, 3, 4}});
    CHECK(flops(decode) == 52224);
    CHECK(reads(decode) == 16128);  // 2 x 4 x 576 and 2 x 3 x 576 of 2 B
    CHECK(writes(decode) == 8192);
    // context of 3: 6 pairs x 2 (192 + 128); one head is narrower expanded: 320 elements
    const auto context = [](std::int64_t heads) {
      return demand_of_row(
          {RowKind::mla_context, "", "", LatentKeys{Precision::bf16, 1, 3, 3, heads}});
    };
    CHECK(flops(context(1)) == 3840);
    CHECK(reads(context(1)) == 3072);  // 3 x 192 x 2 + 3 x 320 x 2
    CHECK(writes(context(1)) == 768);
    CHECK(reads(context(4)) == 8064);  // 3 x 4 x 192 x 2 + 3 x 576 x 2
    const Demand product = demand_of_row(
        {RowKind::mla_bmm, "", "", LatentProductKeys{true, Precision::fp8_e4m3, 3, 2}});
    CHECK(flops(product) == 786432);  // 2 heads x 2 x 3 x 128 x 512
    CHECK(reads(product) == 131840);  // 2 x (3 x 128 + 128 x 512)
    CHECK(writes(product) == 6144);   // 2 x 3 x 512 x 2 B
  }

  TEST_CASE("rows: quantization and Vidur's kernels") {
    const Demand quantize = demand_of_row({RowKind::quantize_fp8, "", "", QuantizeKeys{3, 5}});
    CHECK(reads(quantize) == 30);
    CHECK(writes(quantize) == 15);
    const Demand add =
        demand_of_row({RowKind::vidur_elementwise, "", "", ElementwiseKeys{"add", 3, 4, 2}});
    CHECK(reads(add) == 48);
    CHECK(writes(add) == 24);
    // every token may be the same: 4 B an id and one row of 8 B
    const Demand table =
        demand_of_row({RowKind::vidur_elementwise, "", "", ElementwiseKeys{"emb", 3, 4, 1}});
    CHECK(reads(table) == 20);
    CHECK(writes(table) == 24);
    const Demand linear =
        demand_of_row({RowKind::vidur_linear, "", "", GemmKeys{GemmDtype::float16, 3, 5, 8}});
    CHECK(unit(linear) == "tensor.fp16.any");
    CHECK(reads(linear) == 128);
    CHECK(writes(linear) == 30);
  }

  TEST_CASE("rows: columns of Vidur's tables") {
    const CsvTable linear = CsvTable::parse(
        "gpu,model,op,tp,dtype,m,n,k,min_us,median_us,mean_us,max_us,std_us\n"
        "a40_vidur,x,mlp_up_proj,1,float16,3,5,8,7.0,8.0,8.1,9.0,0.5\n"
        "a40_vidur,x,mlp_up_proj,1,bfloat16,3,5,8,7.0,8.0,8.1,9.0,0.5\n",
        "t.csv");
    const MeasuredRows all = rows_of(linear, RowKind::vidur_linear);
    REQUIRE(all.rows.size() == 1);
    CHECK(all.rows.front().time.in_base_units() == doctest::Approx(7e-6));
    CHECK(describe(all.rows.front().keys) == "vidur_linear float16 m=3 n=5 k=8");
    CHECK(all.unread.at(0).reason == "dtype \"bfloat16\" is not known");
    const CsvTable odd = CsvTable::parse(
        "gpu,model,op,tp,dtype,tokens,width,read_elems,write_elems,min_us,median_us,mean_us,max_us,"
        "std_us\na40_vidur,x,add,1,float16,3,4,25,12,7.0,8.0,8.1,9.0,0.5\n",
        "t.csv");
    CHECK(rows_of(odd, RowKind::vidur_elementwise).unread.at(0).reason ==
          "read_elems and write_elems are no whole tensors of tokens x width");
  }

  TEST_CASE("rows: a serving run is a first token and a token after it") {
    const CsvTable table = CsvTable::parse(
        kServingHeader +
            "a,64,vllm,1,x/"
            "y,h100_sxm,fp8,agg,8192,1024,fp8,fp8,16.0,4.0,1.0,4.0,1.0,16.0,,,,,,,,,,,"
            ",,,,3000.5,29.5\n"
            "b,48,vllm,1,x/"
            "y,h100_sxm,fp8,disagg,4000,1000,fp8,fp8,,,,,,,1.0,2.0,1.0,1.0,4.0,0.0,0.0,"
            "7.0,3.0,8.0,1.0,1.0,0.0,0.0,200.5,9.5\n",
        "t.csv");
    const MeasuredRows all = rows_of(table, RowKind::serving_e2e);
    REQUIRE(all.rows.size() == 4);
    const auto keys = [&](std::size_t i) { return std::get<ServingKeys>(all.rows[i].keys.work); };
    CHECK(all.rows[0].time.in_base_units() == doctest::Approx(3.0005));
    CHECK(keys(0).first_token);
    CHECK(all.rows[1].time.in_base_units() == doctest::Approx(0.0295));
    CHECK(keys(1).sequences == 16);  // 64 over 4 replicas of the attention
    CHECK(keys(1).moe_ep == 16);
    CHECK(keys(2).tp == 1);  // of the part that prefills
    CHECK(keys(2).attention_dp == 4);
    CHECK(keys(3).tp == 8);
    CHECK(keys(3).sequences == 7);  // the engine's limit; 48 / 3 would be 16
    CHECK(keys(3).moe_ep == 1);     // 0: not recorded
  }

  TEST_CASE("floors: experts of DeepSeek for one token") {
    Judge judge(kDevices);
    const MoeKeys keys{MoeDtype::fp8, 1, 7168, 2048, 8, 256, 1, 1, "balanced"};
    // 8 x 3 x 7168 x 2048 + 7168 - S_all = 352,328,704 - 121,634,816 B at 3.35232 TB/s
    CHECK(any_us(judge.verdict(moe(keys))) == doctest::Approx(68.8162).epsilon(1e-5));
    // uniform routing of 64 tokens: 222.4 experts instead of 8
    MoeKeys many = keys;
    many.tokens = 64;
    const double ratio =
        judge.verdict(moe(many), nullptr, Routing::uniform).demand.hbm_read.in_base_units() /
        judge.verdict(moe(many)).demand.hbm_read.in_base_units();
    CHECK(ratio == doctest::Approx(222.4 / 8).epsilon(2e-3));
    MoeKeys plain = keys;
    plain.inter = 2688;
    CHECK(judge.verdict(moe(plain)).demand.flops.in_base_units() == 2.0 * 8 * 2 * 7168 * 2688);
    CHECK(judge.verdict(moe(plain), &rule("two_matrices")).demand.flops.in_base_units() ==
          2.0 * 8 * 3 * 7168 * 2688);
  }

  TEST_CASE("judge: balanced experts are held against uniform routing, exceptions apart") {
    Judge judge(kDevices);
    const std::string row = "h100_sxm,fp8,64,7168,2048,8,256,1,1,";
    const CsvTable table = CsvTable::parse(
        "gpu,dtype,tokens,hidden,inter,topk,experts,moe_tp,moe_ep,distribution,best_us,median_us,"
        "n_meas,best_src\n" +
            row + "balanced,2000,2000,1,trtllm/1\n" + row + "power_law_1.2,2000,2000,1,trtllm/1\n" +
            "h100_sxm,fp8,64,7168,2048,8,384,1,1,balanced,2000,2000,1,trtllm/1\n",
        "t.csv");
    judge.add(table, {"t.csv", "t.csv", TableForm::measured, RowKind::moe});
    const Judgement all = judge.finish();
    CHECK(all.total().judged == 3);
    CHECK(all.total().violating == 0);  // by the least, 8 experts: 69 us
    REQUIRE(all.uniform.size() == 3);
    CHECK(all.uniform[0].exception);
    CHECK(all.uniform[0].rows == 1);
    CHECK(all.uniform[0].below == 1);  // 222.4 experts: 2.9 ms
    CHECK(all.uniform[1].rows == 0);
    CHECK(all.uniform[2].rows == 1);
    CHECK(all.uniform[2].below == 1);
    for (const Statement& s : all.statements) {
      if (s.id != "uniform") continue;
      CHECK(s.found == "1 of 1 below");
      CHECK(s.holds == Statement::Holds::no);
    }
  }

  TEST_CASE("floors: fp8 latents where the device has no fp8 unit") {
    Judge judge(kDevices);
    const LatentKeys keys{Precision::fp8_e4m3, 64, 1, 4096, 128};
    const double work = 2.0 * 64 * 4096 * 128 * 1088;
    const RowVerdict a100 = judge.verdict({RowKind::mla_decode, "a100_sxm", "", keys});
    CHECK(any_us(a100) == doctest::Approx(work / (108 * 2048 * 1.41e9) * 1e6));
    const RowVerdict h100 = judge.verdict({RowKind::mla_decode, "h100_sxm", "", keys});
    CHECK(any_us(h100) == doctest::Approx(work / (132 * 8192 * 1.98e9) * 1e6));
  }

  TEST_CASE("floors: messages of 64 MiB between Vidur's GPUs") {
    Judge judge(kDevices);
    const OperatorKind send = OperatorKind::send_recv;
    const OperatorKind sum = OperatorKind::all_reduce;
    CHECK(any_us(judge.verdict(message("h100_dgx", send, 2, 2))) ==
          doctest::Approx(149.1308).epsilon(1e-6));
    CHECK(any_us(judge.verdict(message("a100_dgx", send, 2, 2))) == 0);
    CHECK(any_us(judge.verdict(message("a100_dgx", send, 2, 2), &rule("sender_buffers"))) ==
          doctest::Approx(223.6962).epsilon(1e-6));
    CHECK(any_us(judge.verdict(message("h100_dgx", send, 2, 1))) == 0);
    // 7/4 of it among 8 of a node; a network may add: once
    CHECK(any_us(judge.verdict(message("a100_dgx", sum, 8, 8))) ==
          doctest::Approx(391.4684).epsilon(1e-6));
    CHECK(any_us(judge.verdict(message("a100_dgx", sum, 16, 8))) ==
          doctest::Approx(223.6962).epsilon(1e-6));
    CHECK(any_us(judge.verdict(message("a100_dgx", sum, 16, 8), &rule("fabric_sum"))) ==
          doctest::Approx(419.4304).epsilon(1e-6));
    // pairs of bridges: all four as if joined, 3/2 of it
    CHECK(any_us(judge.verdict(message("h100_pairwise_nvlink", sum, 4, 4))) ==
          doctest::Approx(1.5 * 67108864 / 363.02e9 * 1e6).epsilon(1e-6));
  }

  TEST_CASE("floors: a whole microsecond may be almost one more") {
    Judge judge(kDevices);
    const RowKeys keys{RowKind::vidur_linear, "h100_vidur", "",
                       GemmKeys{GemmDtype::float16, 8192, 8192, 8192}};
    const RowVerdict row = judge.verdict(keys);  // 1027.07 us
    CHECK_FALSE(row.refutes(microseconds(1027)));
    CHECK(row.refutes(microseconds(1026)));
    CHECK(judge.verdict(keys, &rule("whole_microseconds")).refutes(microseconds(1027)));
  }

  TEST_CASE("floors: one step of a served model") {
    const auto folder = std::filesystem::temp_directory_path() / "floorline_row_kinds_test";
    std::filesystem::create_directories(folder);
    std::filesystem::copy_file("workloads/llama-3.1-8b.json", folder / "x--y.json",
                               std::filesystem::copy_options::overwrite_existing);
    Judge judge(kDevices, folder.string());
    ServingKeys keys;
    keys.model = "x/y";
    keys.precision = "fp8";
    keys.prompt = 1024;
    keys.sequences = 64;
    const RowKeys decode{RowKind::serving_e2e, "h100_sxm", "", keys};
    // Matrices 32 x 218,103,808 B; lm_head 2 x 128256 x 4096; norms 65 x 8192; cache of 1024 tokens
    // 67,108,864; one row of the table 8192: 8,097,644,544 less S_all at 3.35232 TB/s
    CHECK(any_us(judge.verdict(decode)) == doctest::Approx(2379.5).epsilon(1e-3));
    // 64 sequences: 63 more caches of 67,108,864 B
    CHECK(any_us(judge.verdict(decode, &rule("waiting_requests"))) ==
          doctest::Approx(3640.8).epsilon(2e-3));
    ServingKeys first = keys;
    first.first_token = true;
    // 2 x 6,979,321,856 x 1024 FLOP and attention 32 x 32 x 524,800 x 512, fp8 on 2.14106e15
    CHECK(any_us(judge.verdict({RowKind::serving_e2e, "h100_sxm", "", first})) ==
          doctest::Approx(6804).epsilon(3e-3));
    keys.model = "x/z";
    CHECK(judge.verdict({RowKind::serving_e2e, "h100_sxm", "", keys}).not_judged ==
          "serving: no configuration of x/z");
    std::filesystem::remove_all(folder);
  }
}
