// SPDX-License-Identifier: Apache-2.0
#include "validation/verdict/judge.hpp"

#include <doctest/doctest.h>

#include <type_traits>

#include "validation/report/judge_document.hpp"

using namespace floorline;

namespace {

const DevicePath kDevices{{"devices"}};

RowKeys gemm(std::string_view gpu, GemmDtype dtype, std::int64_t m, std::int64_t n,
             std::int64_t k) {
  return {RowKind::gemm, gpu, "", GemmKeys{dtype, m, n, k}};
}
RowKeys attention(RowKind kind, std::string_view gpu, const AttentionKeys& keys) {
  return {kind, gpu, "", keys};
}
RowKeys collective(RowKind kind, std::string_view gpu, OperatorKind op, std::int64_t bytes) {
  return {kind, gpu, "", CollectiveRowKeys{op, "", 8, bytes}};
}
const ReadingRule& rule(std::string_view id) {
  for (const ReadingRule& r : reading_rules()) {
    if (r.id == id) return r;
  }
  throw std::logic_error("no such rule");
}
double cold_us(const RowVerdict& row) { return row.cold.time().in_base_units() * 1e6; }
double any_us(const RowVerdict& row) { return row.any.time().in_base_units() * 1e6; }

Judgement judgement_of(const std::string& text, RowKind kind,
                       TableForm form = TableForm::measured) {
  Judge judge(kDevices);
  const CsvTable table = CsvTable::parse(text, "t.csv");
  judge.add(table, {"t.csv", "t.csv", form, kind});
  return judge.finish();
}
const std::string kGemmHeader = "gpu,dtype,m,n,k,best_us,median_us,n_meas,best_src\n";

Statement::Holds holds(const Judgement& judgement, std::string_view id) {
  for (const Statement& s : judgement.statements) {
    if (s.id == id) return s.holds;
  }
  throw std::logic_error("no such statement");
}

// A rule cannot see a time or a floor: what it is given has none.
static_assert(
    std::is_same_v<decltype(ReadingRule::covers), bool (*)(const RowKeys&, const OnChip&)>);
static_assert(std::is_same_v<decltype(ReadingRule::apply), void (*)(Reading&)>);
template <class T>
concept has_time = requires(T t) {
  t.time;
}
|| requires(T t) { t.best; }
|| requires(T t) { t.floor; };
static_assert(!has_time<RowKeys> && !has_time<OnChip> && !has_time<Reading>);
static_assert(has_time<MeasuredRow>);

}  // namespace

TEST_SUITE("validation") {
  TEST_CASE("floors: a bf16 product by hand") {
    Judge judge(kDevices);
    const RowVerdict row = judge.verdict(gemm("h100_sxm", GemmDtype::bfloat16, 8192, 8192, 8192));
    // F = 2^40 on 132 x 4096 x 1.98 GHz = 1.07053056e15; D = 3 x 2^27 bytes take 120.1 us only
    CHECK(cold_us(row) == doctest::Approx(1027.0717).epsilon(1e-6));
    CHECK(any_us(row) == cold_us(row));
    CHECK(name_of(row.any.binding_term().resource) == "tensor.bf16.fp32");
  }

  TEST_CASE("floors: residency is S_all for products, S_keep for attention") {
    CHECK(residency_of(RowKind::gemm) == Residency::any_all);
    CHECK(residency_of(RowKind::attn_decode) == Residency::any_keep);
    Judge judge(kDevices);
    // int8_sq, x and w one byte: 2^29 + 2^23 = 545,259,520 read, 2 MiB written (all stays), and
    // S_all = 50 MiB + 132 x 512 KiB = 121,634,816; 423,624,704 B at 4.917 TB/s
    const RowKeys keys = gemm("h200_sxm", GemmDtype::int8_sq, 8192, 128, 65536);
    CHECK(any_us(judge.verdict(keys)) == doctest::Approx(86.1551).epsilon(1e-5));
    // x of two bytes: 2^30 + 2^23 - S_all = 960,495,616
    CHECK(any_us(judge.verdict(keys, &rule("narrow_input"))) ==
          doctest::Approx(195.3418).epsilon(1e-5));
    // decode, keys 192 and values 128: 64 x (2x192x2 + 65536 x 320 x 2) - 50 MiB = 2,631,974,912 B
    const RowKeys decode =
        attention(RowKind::attn_decode, "h100_sxm",
                  {Precision::bf16, Precision::bf16, 64, 1, 65536, 2, 1, 192, 0});
    CHECK(any_us(judge.verdict(decode)) == doctest::Approx(785.1210).epsilon(1e-5));
    // values 192: 64 x (768 + 65536 x 384 x 2) - 50 MiB = 3,168,845,824 B
    CHECK(any_us(judge.verdict(decode, &rule("value_head"))) ==
          doctest::Approx(945.2694).epsilon(1e-5));
  }

  TEST_CASE("floors: fp8 keys multiply at the fp8 rate") {
    Judge judge(kDevices);
    const RowKeys keys =
        attention(RowKind::attn_context, "h100_sxm",
                  {Precision::bf16, Precision::fp8_e4m3, 16, 6144, 6144, 96, 2, 256, 0});
    // pairs 16 x 6144 x 6145/2 = 302,039,040; x 96 heads x 1024 = 29,691,645,788,160 FLOP
    CHECK(cold_us(judge.verdict(keys)) == doctest::Approx(13867.7294).epsilon(1e-5));
    CHECK(cold_us(judge.verdict(keys, &rule("fp8_scores"))) ==
          doctest::Approx(27735.4588).epsilon(1e-5));
  }

  TEST_CASE("floors: chunks of 8192 keys") {
    Judge judge(kDevices);
    RowKeys keys = attention(RowKind::attn_context, "h100_sxm",
                             {Precision::bf16, Precision::bf16, 1, 10240, 10240, 5, 1, 128, 8192});
    // 8192 x 8193/2 + 2048 x 2049/2 = 35,656,704 pairs; x 5 x 512
    CHECK(judge.verdict(keys).demand.flops.in_base_units() == 91281162240.0);
    // a sliding window: 33,558,528 + 2048 x 8192 = 50,335,744 pairs
    CHECK(judge.verdict(keys, &rule("chunked_window")).demand.flops.in_base_units() ==
          128859504640.0);
    // the bytes are the same: all of Q, K, V
    CHECK(judge.verdict(keys).demand.hbm_read.in_base_units() == 10240.0 * 7 * 128 * 2);
    // decode at key 10241 is the 2049th of its chunk
    keys = attention(RowKind::attn_decode, "h100_sxm",
                     {Precision::bf16, Precision::bf16, 1, 1, 10241, 5, 1, 128, 8192});
    CHECK(judge.verdict(keys).demand.flops.in_base_units() == 2049.0 * 5 * 512);
  }

  TEST_CASE("floors: collectives of 64 MiB over 8 GPUs") {
    Judge judge(kDevices);
    const std::int64_t s = 67108864;
    const RowKeys sum = collective(RowKind::nccl, "h100_sxm", OperatorKind::all_reduce, s);
    CHECK(any_us(judge.verdict(sum)) == doctest::Approx(149.1308).epsilon(1e-6));  // s / 450 GB/s
    // by endpoints 7/4 of it
    CHECK(any_us(judge.verdict(sum, &rule("fabric_sum"))) ==
          doctest::Approx(260.9789).epsilon(1e-6));
    const RowKeys old =
        collective(RowKind::custom_allreduce, "a100_sxm", OperatorKind::all_reduce, s);
    CHECK(any_us(judge.verdict(old)) == doctest::Approx(391.4684).epsilon(1e-6));  // 300 GB/s
    const RowKeys shuffle = collective(RowKind::nccl, "l40s", OperatorKind::all_to_all, s);
    CHECK(any_us(judge.verdict(shuffle)) ==
          doctest::Approx(1863.5435).epsilon(1e-5));  // 7/8, 31.51
  }

  TEST_CASE("rules: each covers its rows and no others") {
    const OnChip fabric{.in_network_reduction_possible = true};
    const OnChip none{.in_network_reduction_possible = false};
    const auto covered = [&](const RowKeys& keys, const OnChip& chip) {
      std::string ids;
      for (const ReadingRule& r : reading_rules()) {
        if (r.covers(keys, chip)) ids += std::string(r.id) + " ";
      }
      return ids;
    };
    CHECK(reading_rules().size() <= 10);
    CHECK(covered(gemm("", GemmDtype::bfloat16, 1, 1, 1), fabric) == "");
    CHECK(covered(gemm("", GemmDtype::int8_wo, 1, 1, 1), fabric) == "");
    CHECK(covered(gemm("", GemmDtype::fp8_static, 1, 1, 1), fabric) == "narrow_input ");
    CHECK(covered(gemm("", GemmDtype::int8_sq, 1, 1, 1), fabric) == "narrow_input int8_products ");
    CHECK(covered(gemm("", GemmDtype::int8_w8a8, 1, 1, 1), fabric) == "int8_products ");
    AttentionKeys keys{Precision::bf16, Precision::bf16, 1, 1, 1, 5, 1, 128, 0};
    const auto context = [&] {
      return covered(attention(RowKind::attn_context, "", keys), fabric);
    };
    CHECK(context() == "");
    keys.kv = Precision::fp8_e4m3;
    CHECK(context() == "fp8_scores ");
    keys.attention = Precision::fp8_e4m3;
    CHECK(context() == "");
    keys.head_dim = 192;
    CHECK(context() == "value_head ");
    keys.window = 8192;
    CHECK(context() == "value_head chunked_window ");
    keys.q_heads = 4;
    CHECK(context() == "value_head ");
    CHECK(covered(collective(RowKind::nccl, "", OperatorKind::all_reduce, 8), fabric) ==
          "fabric_sum ");
    CHECK(covered(collective(RowKind::nccl, "", OperatorKind::all_reduce, 8), none) == "");
    CHECK(covered(collective(RowKind::nccl, "", OperatorKind::all_gather, 8), fabric) == "");
  }

  TEST_CASE("judge: a row below its floor is flagged, listed and makes the answer no") {
    const Judgement all = judgement_of(
        kGemmHeader +
            "h100_sxm,bfloat16,8192,8192,8192,1028,1100,3,vllm/1\n"
            "h100_sxm,bfloat16,8192,8192,8192,1026,1100,3,vllm/1\n",  // floor: 1027.07 us
        RowKind::gemm);
    CHECK(all.total().judged == 2);
    CHECK(all.total().violating == 1);
    REQUIRE(all.violations.size() == 1);
    CHECK(all.violations.front().place == "t.csv:3");
    CHECK(all.violations.front().binding == "tensor.bf16.fp32");
    CHECK(all.violations.front().reason ==
          "F or P: less work, or a faster precision, than the row is read as");
    CHECK(holds(all, "sound") == Statement::Holds::no);
    CHECK(holds(all, "impossible") == Statement::Holds::no_rows);
    CHECK_FALSE(all.holds());
    const Document document = judge_document("folder", all);
    CHECK(document.json.find("holds")->boolean() == false);
    CHECK(document.json.find("violations")->items().size() == 1);
    const std::string text = write(document, Format::table, {});
    CHECK(text.find("FAILS") != std::string::npos);
    CHECK(text.find("1 of 2 below") != std::string::npos);
    CHECK(text.find("t.csv:3: h100_sxm gemm bfloat16") != std::string::npos);
  }

  TEST_CASE("judge: a rule counts what would be below without it") {
    // 86.2 us by the rule, 195.3 us without: see above
    const Judgement all = judgement_of(
        kGemmHeader + "h200_sxm,int8_sq,8192,128,65536,150,160,1,trtllm/1\n", RowKind::gemm);
    for (const RuleTally& tally : all.rules) {
      CAPTURE(tally.rule->id);
      const bool covers = tally.rule->id == "narrow_input" || tally.rule->id == "int8_products";
      CHECK(tally.rows == (covers ? 1 : 0));
      CHECK(tally.violating == 0);
      CHECK(tally.violating_without == (tally.rule->id == "narrow_input" ? 1 : 0));
    }
  }

  TEST_CASE("judge: rows that are not judged are counted by reason") {
    const Judgement all = judgement_of(kGemmHeader +
                                           "h100_sxm,fp6,1,1,1,9,9,1,x\n"
                                           "abacus,fp8,1,1,1,9,9,1,x\n"
                                           "a100_sxm,fp8,1,1,1,9,9,1,x\n"
                                           "h100_sxm,fp8,1,1,1,9,9,1,x\n",
                                       RowKind::gemm);
    CHECK(all.total().rows == 4);
    CHECK(all.total().judged == 1);
    CHECK(all.not_judged.size() == 3);
    CHECK(all.not_judged.at("dtype \"fp6\" is not known") == 1);
    CHECK(all.not_judged.at("no device file for abacus") == 1);
    CHECK(all.not_judged.at("device a100_sxm_80gb does not state rate.tensor.fp8_e4m3.any") == 1);
    CHECK(all.not_judged_on_known_device == 2);
    CHECK(holds(all, "complete") == Statement::Holds::no);
  }

  TEST_CASE("judge: impossible rows are called, and those that are not say why") {
    const std::string header =
        "op,gpu,source,attn_dtype,kv_dtype,batch,seq_q,seq_kv,heads_q,heads_kv,head_dim,window,"
        "time_us,warm_bound_us\n";
    // As above, 785.1 us with values of 128 and 945.3 us with 192; 2,684,403,712 B in all
    const std::string row = "attn_decode,h100_sxm,x,bfloat16,bfloat16,64,1,65536,2,1,192,0,";
    const Judgement all =
        judgement_of(header + row + "700,1\n" + row + "800,1\n" + row + "1000,1\n", RowKind::gemm,
                     TableForm::impossible);
    CHECK(all.total_impossible().rows == 3);
    CHECK(all.total_impossible().called == 1);
    REQUIRE(all.not_called.size() == 2);
    CHECK(all.not_called[0].place == "t.csv:3");
    CHECK(all.not_called[0].reason ==
          "possible by rule value_head: without it the floor is 945.3 us");
    CHECK(all.not_called[1].reason == "at or above its floor");
    CHECK(holds(all, "impossible") == Statement::Holds::no);
    CHECK(holds(all, "sound") == Statement::Holds::no_rows);
  }

  TEST_CASE("tightness: percentiles between ranks") {
    const std::vector<double> four{1, 2, 3, 4};
    CHECK(percentile(four, 0) == 1);
    CHECK(percentile(four, 0.1) == doctest::Approx(1.3));  // 3 x 0.1 above the first
    CHECK(percentile(four, 0.5) == 2.5);
    CHECK(percentile(four, 0.9) == doctest::Approx(3.7));
    CHECK(percentile(four, 1) == 4);
    const std::vector<double> one{5};
    CHECK(percentile(one, 0.9) == 5);
  }

  TEST_CASE("tightness: a row falls into its size classes") {
    // 1027.07 us, F = 1.1e12; 2 x 1 x 65536 x 8192 reads 1.07 GB: memory; 64^3 is the rest
    const Judgement all = judgement_of(kGemmHeader +
                                           "h100_sxm,bfloat16,8192,8192,8192,2054.1434,1,1,x\n"
                                           "h100_sxm,bfloat16,1,65536,8192,1000,1,1,x\n"
                                           "h100_sxm,bfloat16,64,64,64,10,1,1,x\n",
                                       RowKind::gemm);
    REQUIRE(all.tightness.size() == 6);  // three classes, all dtypes together and bf16
    CHECK(all.tightness[0].variant.empty());
    CHECK(all.tightness[0].size == SizeClass::large_work);
    CHECK(all.tightness[0].ratio.rows == 1);
    CHECK(all.tightness[0].ratio.p50 == doctest::Approx(2).epsilon(1e-6));
    CHECK(all.tightness[1].size == SizeClass::memory_bound);
    CHECK(all.tightness[2].size == SizeClass::rest);
    CHECK(all.tightness[3].variant == "bfloat16");
    CHECK_FALSE(all.holds());  // twice the floor is above the target
  }
}

TEST_SUITE("measured") {
  TEST_CASE("the measured rows that stand beside this repository") {
    const auto folder = list_measured("../shared/measured");
    if (!folder) {
      MESSAGE("skipped: ../shared/measured is not there");
      return;
    }
    const Judgement all = judge_folder(*folder, kDevices, "../shared/model-configs");
    CHECK(all.total().violating == 0);
    CHECK(all.total().judged + all.serving_not_judged == all.total().rows);
    CHECK(all.total_impossible().called >= 1980);
    for (const Statement& s : all.statements) {
      CAPTURE(s.text);
      CAPTURE(s.found);
      CHECK(s.holds == Statement::Holds::yes);
    }
    for (const RuleTally& tally : all.rules) CHECK(tally.violating == 0);
  }
}
