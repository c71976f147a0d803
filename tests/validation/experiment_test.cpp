// SPDX-License-Identifier: Apache-2.0
// Descriptions of experiments: text in and out, sizes, what predicts them, what may be rounded
// away.
#include "validation/experiment/experiment.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "model/device/device_file.hpp"
#include "model/evaluate.hpp"
#include "model/input/diagnostic.hpp"
#include "validation/experiment/prediction.hpp"
#include "validation/experiment/reference.hpp"

using namespace floorline;

namespace {

std::string refusal(const std::string& text) {
  try {
    parse_experiment(text);
  } catch (const InputError& error) {
    std::string all;
    for (const Diagnostic& d : error.diagnostics()) all += to_text(d) + "\n";
    return all;
  }
  return "";
}

Machine shipped(const char* name) { return machine_of(load_device(name, {{"devices"}}), {}); }

}  // namespace

TEST_SUITE("experiment") {
  TEST_CASE("every experiment of every suite reads back from its text") {
    for (const Scale scale : {Scale::tiny, Scale::host, Scale::device}) {
      std::set<std::string> names;
      for (const ExperimentSpec& spec : experiment_table(scale)) {
        CAPTURE(spec.name);
        CHECK(names.insert(spec.name).second);
        const ExperimentSpec again = parse_experiment(text_of(spec));
        CHECK(again.kind == spec.kind);
        CHECK(again.sizes == spec.sizes);
        CHECK(again.precision == spec.precision);
        CHECK(text_of(again) == text_of(spec));
        CHECK(spec.variant.find("in=") != std::string::npos);
      }
    }
  }

  TEST_CASE("every kind is in the suite, and names are those of the kinds") {
    std::set<ExperimentKind> kinds;
    for (const ExperimentSpec& spec : experiment_table(Scale::device)) kinds.insert(spec.kind);
    CHECK(kinds.size() == kExperimentKindCount);
    for (int i = 0; i < kExperimentKindCount; ++i) {
      const auto kind = static_cast<ExperimentKind>(i);
      CHECK(experiment_kind_from(name_of(kind)) == kind);
    }
    CHECK(name_of(ExperimentKind::all_reduce) == "all_reduce");
    CHECK_FALSE(experiment_kind_from("stream"));
  }

  TEST_CASE("transfers run from 64 B to 1 GiB, pinned and pageable, both ways") {
    std::set<std::int64_t> sizes;
    int transfers = 0;
    for (const ExperimentSpec& spec : experiment_table(Scale::device)) {
      if (spec.kind != ExperimentKind::h2d && spec.kind != ExperimentKind::d2h) continue;
      ++transfers;
      sizes.insert(spec.sizes.bytes);
    }
    CHECK(sizes == std::set<std::int64_t>{64, 1024, 16384, 262144, 4194304, 67108864, 1073741824});
    CHECK(transfers == 28);  // 7 sizes x 2 directions x 2 kinds of memory
  }

  TEST_CASE("what is not written is the usual; compute of fp64 and of products follows the data") {
    const ExperimentSpec norm = parse_experiment("layernorm rows=4 cols=8 in=bf16 weight=fp32");
    CHECK(norm.precision.out == Precision::bf16);
    CHECK(norm.precision.weight == Precision::fp32);
    CHECK(norm.precision.compute == Precision::fp32);
    CHECK(parse_experiment("triad n=9 in=fp64").precision.accumulate == Precision::fp64);
    const ExperimentSpec product = parse_experiment("gemm m=2 n=3 k=4 in=bf16");
    CHECK(product.precision.compute == Precision::bf16);
    CHECK(product.precision.accumulate == Precision::fp32);
    CHECK(parse_experiment("h2d bytes=4KiB pinned=0").sizes.bytes == 4096);
  }

  TEST_CASE("wrong words are named with their columns, all at once") {
    const std::string all = refusal("layernorm rows=0 colz=8 in=bf61 rows=2");
    CHECK(all.find("1:11: error: rows: \"0\" is not a whole number from 1 to") !=
          std::string::npos);
    CHECK(all.find("1:18: error: colz: is not a key of layernorm; did you mean \"cols\"?") !=
          std::string::npos);
    CHECK(all.find("1:25: error: in: \"bf61\" is not a precision") != std::string::npos);
    CHECK(all.find("1:33: error: rows: given twice") != std::string::npos);
    CHECK(all.find("cols: missing; layernorm needs it") != std::string::npos);
    CHECK(refusal("").find("is not an experiment") != std::string::npos);
    CHECK(refusal("layernrm rows=1").find("did you mean \"layernorm\"?") != std::string::npos);
    CHECK(refusal("attention_naive batch=65536 heads=65536 q_len=1048576 kv_len=1048576 head_dim=8")
              .find("needs more than 1e15 bytes") != std::string::npos);
    CHECK(refusal("copy n=1e300").find("is not a whole number") != std::string::npos);
    CHECK(refusal("copy n=-1").find("is not a whole number") != std::string::npos);
    CHECK(refusal("copy n=nan").find("is not a whole number") != std::string::npos);
    CHECK(refusal("h2d bytes=64").find("is not bytes with their unit") != std::string::npos);
    CHECK(refusal("attention_tiled heads=1 q_len=9 kv_len=3 head_dim=8 causal=1")
              .find("more queries than keys") != std::string::npos);
  }

  TEST_CASE("bytes of one call") {
    // triad of 1000 fp32: two read, one written, 12 bytes an element.
    CHECK(footprint(parse_experiment("triad n=1000")) == Bytes(12000));
    // LayerNorm 7 x 96 in bf16 as three kernels: x, y 2 x 672 x 2, scale and shift 2 x 96 x 2,
    // mean and variance 2 x 7 x 4: 2688 + 384 + 56.
    CHECK(footprint(parse_experiment("layernorm_three rows=7 cols=96 in=bf16")) == Bytes(3128));
    // Every 32nd fp32 with 64-byte lines: one line each, 64 bytes, and 4 written; all 128 are held.
    const ExperimentSpec strided = parse_experiment("strided n=100 stride=32");
    CHECK(footprint(strided) == Bytes(100 * (128 + 4)));
    CHECK(touched(strided, Bytes(64)) == Bytes(100 * (64 + 4)));
    CHECK(touched(parse_experiment("strided n=100 stride=2"), Bytes(64)) == Bytes(100 * (8 + 4)));
    // 10 of 1000 distinct fp32: 4 bytes each at least, indices 4, outputs 4.
    CHECK(touched(parse_experiment("gather n=10 rows=1000"), Bytes(64)) == Bytes(120));
  }

  TEST_CASE("every experiment has a graph that the engine evaluates") {
    const Machine gpus = shipped("h100_sxm");
    for (const ExperimentSpec& spec : experiment_table(Scale::device)) {
      CAPTURE(spec.name);
      const Evaluation e = evaluate(prediction_graph(spec), gpus);
      CHECK(e.floors.serial.cold > Seconds(0));
      CHECK(e.floors.serial.any <= e.floors.serial.cold);
    }
    const Machine cpus = shipped("epyc_9654");
    for (const ExperimentSpec& spec : experiment_table(Scale::host)) {
      if (spec.need == Need::host_link || spec.need == Need::two_devices) continue;
      if (spec.precision.compute != Precision::fp32 && spec.precision.compute != Precision::fp64) {
        continue;  // that processor has no such products
      }
      CAPTURE(spec.name);
      CHECK(evaluate(prediction_graph(spec), cpus).floors.serial.cold > Seconds(0));
    }
  }

  TEST_CASE("the graphs of several kernels count what the worked examples count") {
    const auto bytes_of = [](const char* text) {
      const Evaluation e = evaluate(prediction_graph(parse_experiment(text)), shipped("h100_sxm"));
      Bytes sum{0};
      for (const OperatorFloors& op : e.floors.ops) {
        sum += (op.demand.hbm_read + op.demand.hbm_write) * op.times;
      }
      return sum;
    };
    // workloads/layernorm_three_kernels.toml and the residual graphs work these by hand.
    CHECK(bytes_of("layernorm_three rows=16384 cols=4096 in=fp16") == Bytes(537214976));
    CHECK(bytes_of("residual_norm rows=16384 cols=4096 in=fp16") == Bytes(1208303616));
    CHECK(bytes_of("residual_norm_one rows=16384 cols=4096 in=fp16") == Bytes(402669568));
    // 1000 kernels that each read and write 16 fp32: 1000 x 2 x 64 bytes.
    CHECK(bytes_of("launch_chain n=16 count=1000") == Bytes(128000));
  }

  TEST_CASE("rounding that is allowed") {
    // Copies: none. A sum of 10000 fp32: 4 sqrt(1e4) 2^-23 sqrt(1e4) = 40000 x 2^-23, and half a
    // unit of the result's last place.
    CHECK(error_bound(parse_experiment("copy n=9")).allowed(0.7) == 0);
    const double sum = error_bound(parse_experiment("two_stage_sum n=10000")).allowed(0);
    CHECK(sum == doctest::Approx(40000 * 0x1p-23));
    // bf16 stored: at least half of 2^-7 of the value.
    CHECK(error_bound(parse_experiment("triad n=9 in=bf16")).allowed(2.0) >= 0x1p-7);
    // tf32 rounds operands of fp32 data to 2^-10: wider than fp32, by 4 sqrt(1024) 2^-10.
    const double plain = error_bound(parse_experiment("gemm m=8 n=8 k=1024")).allowed(0);
    const double tf32 =
        error_bound(parse_experiment("gemm m=8 n=8 k=1024 compute=tf32")).allowed(0);
    CHECK(tf32 - plain == doctest::Approx(4 * 32 * 0x1p-10));
    CHECK(epsilon_of(Precision::fp64) == 0x1p-52);
    CHECK(epsilon_of(Precision::int8) == 0);
  }

  TEST_CASE("data repeat with their seed, lie in [-1, 1] and are already rounded") {
    const ExperimentSpec spec = parse_experiment("vector_add n=1000 in=bf16");
    const ExperimentData data = make_data(spec, 7);
    CHECK(make_data(spec, 7).inputs == data.inputs);
    CHECK(make_data(spec, 8).inputs != data.inputs);
    double sum = 0;
    for (const float v : data.inputs[0]) {
      CHECK(std::abs(v) <= 1.0F);
      CHECK(rounded_to(v, Precision::bf16) == v);
      sum += static_cast<double>(v);
    }
    CHECK(std::abs(sum / 1000) < 0.1);  // the deviation of the mean is 1 / sqrt(3000) = 0.018
    CHECK(rounded_to(0.3F, Precision::fp8_e4m3) == 0.3125F);  // 0.28125, 0.3125: steps of 2^-5
    CHECK(rounded_to(0.3F, Precision::int8) == 2.0F);         // 7 x 0.3 = 2.1
    const ExperimentData gather = make_data(parse_experiment("gather n=50 rows=50"), 1);
    CHECK(std::set<std::int32_t>(gather.indices.begin(), gather.indices.end()).size() == 50);
  }

  TEST_CASE("references, by hand") {
    ExperimentSpec spec = parse_experiment("layernorm rows=1 cols=2");
    ExperimentData data = make_data(spec, 1);
    // Row 1, 3: mean 2, variance 1; y = (x - 2) / sqrt(1 + 1e-5) x 2 + 1.
    data.inputs = {{1, 3}, {2, 2}, {1, 1}};
    std::vector<double> y = reference(spec, data, {0, 1});
    CHECK(y[0] == doctest::Approx(-2 / std::sqrt(1.00001) + 1));
    CHECK(y[1] == doctest::Approx(2 / std::sqrt(1.00001) + 1));
    spec = parse_experiment("gemm m=1 n=2 k=2");
    data = make_data(spec, 1);
    data.inputs = {{1, 2}, {3, 4, 5, 6}};  // 1*3 + 2*5 = 13, 1*4 + 2*6 = 16
    CHECK(reference(spec, data, {1, 0}) == std::vector<double>{16, 13});
    spec = parse_experiment("softmax rows=1 cols=2");
    data = make_data(spec, 1);
    data.inputs = {{0, std::log(3.0F)}};  // e^0 : e^(ln 3) = 1 : 3
    CHECK(reference(spec, data, {0})[0] == doctest::Approx(0.25));
    // One query at the first of two keys, causal: it sees itself alone.
    spec = parse_experiment("attention_tiled heads=1 q_len=2 kv_len=2 head_dim=1 causal=1");
    data = make_data(spec, 1);
    data.inputs = {{1, 1}, {0, std::log(3.0F)}, {5, 9}};
    y = reference(spec, data, {0, 1});  // the second: weights 1 : 3, (5 + 27) / 4 = 8
    CHECK(y[0] == doctest::Approx(5));
    CHECK(y[1] == doctest::Approx(8));
    spec = parse_experiment("dependency_chain n=1 count=2");
    data = make_data(spec, 1);
    data.inputs = {{1}};  // 1 -> 0.875 -> 0.78125
    CHECK(reference(spec, data, {0})[0] == 0.78125);
    spec = parse_experiment("all_reduce bytes=4B ranks=4");
    data = make_data(spec, 1);
    data.inputs = {{0.5F}};  // 0.5 + 1.5 + 2.5 + 3.5
    CHECK(reference(spec, data, {0})[0] == 8);
  }
}
