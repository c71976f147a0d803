// SPDX-License-Identifier: Apache-2.0
#include "model/workload/op_text.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "model/workload/bound_graph.hpp"

using namespace floorline;

namespace {

std::string refused(std::string_view text) {
  try {
    parse_op_text(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

bool assumes(const OperatorGraph& graph, std::string_view what) {
  return std::find(graph.assumptions.begin(), graph.assumptions.end(), what) !=
         graph.assumptions.end();
}

const Tensor& tensor(const OperatorGraph& graph, std::string_view name) {
  return graph.tensors[index(graph.find_tensor(name).value())];
}

}  // namespace

TEST_SUITE("workload") {
  TEST_CASE("op text: kind, keys, tensors and defaults") {
    const OperatorGraph graph = parse_op_text("  gemm m=8\tn=4 k=2 ");
    CHECK(graph.name == "gemm");
    REQUIRE(graph.ops.size() == 1);
    CHECK(graph.ops[0].kind == OperatorKind::gemm);
    CHECK(graph.symbol("m") == 8);
    CHECK(graph.symbol("batch") == 1);
    CHECK(tensor(graph, "weight").role == TensorRole::weight);
    CHECK(tensor(graph, "weight").dtype == Precision::bf16);
    CHECK(tensor(graph, "out").role == TensorRole::output);
    CHECK(graph.ops[0].compute == Precision::bf16);
    CHECK(graph.ops[0].accumulate == Precision::fp32);
    for (const char* assumption :
         {"batch = 1 (default)", "in = bf16 (default)", "weight = bf16 (default)",
          "out = bf16 (default)", "compute = bf16 (default)", "accumulate = fp32 (default)"}) {
      CAPTURE(assumption);
      CHECK(assumes(graph, assumption));
    }
  }

  TEST_CASE("op text: what is given is not assumed") {
    const OperatorGraph graph = parse_op_text(
        "gemm m=8 n=4 k=2 batch=3 in=fp8 weight=int4 out=fp16 compute=fp8 accumulate=fp16");
    CHECK(graph.assumptions.empty());
    CHECK(tensor(graph, "in").dtype == Precision::fp8_e4m3);
    CHECK(tensor(graph, "weight").dtype == Precision::int4);
    CHECK(tensor(graph, "out").dtype == Precision::fp16);
    CHECK(graph.ops[0].accumulate == Precision::fp16);
  }

  TEST_CASE("op text: defaults of compute and accumulate precision") {
    const auto op = [](std::string_view text) { return parse_op_text(text).ops[0]; };
    CHECK(op("gemm m=1 n=1 k=1 in=bf16 weight=int4").compute == Precision::bf16);
    CHECK(op("gemm m=1 n=1 k=1 in=int8").accumulate == Precision::int32);
    CHECK(op("gemm m=1 n=1 k=1 in=fp64").accumulate == Precision::fp64);
    CHECK(op("softmax rows=1 cols=1").compute == Precision::any);
    CHECK(op("custom flops=1 bytes=1B").compute == Precision::any);
    CHECK(op("custom flops=1 bytes=1B compute=fp16").accumulate == Precision::fp32);
  }

  TEST_CASE("op text: every kind binds with its required keys alone") {
    for (const KindInfo& kind : operator_kinds()) {
      CAPTURE(kind.name);
      if (kind.kind == OperatorKind::fused) continue;  // graph files only
      std::string text = kind.name;
      for (const KeyInfo& key : kind.keys) {
        if (!key.required) continue;
        text += " " + std::string(name_of(key.key)) + "=8";
        if (key.key == Key::bytes) text += "B";
        if (key.key == Key::time) text += "us";
      }
      if (kind.kind == OperatorKind::copy) text += " path=d2d";
      const BoundGraph bound = bind(parse_op_text(text));
      CHECK(bound.ops.size() == 1);
      const bool has_output = kind.kind != OperatorKind::host;
      CHECK((bound.ops[0].output_count > 0) == has_output);
    }
    CHECK(operator_kinds().size() == kOperatorKindCount);
  }

  TEST_CASE("op text: keys in every notation") {
    CHECK(parse_op_text("gemm m=8e3 n=1 k=1").symbol("m") == 8000);
    CHECK(parse_op_text("copy bytes=1.5GB path=h2d").symbol("bytes") == 1.5e9);
    CHECK(parse_op_text("copy bytes=64MiB path=h2d").symbol("bytes") == 67108864);
    CHECK(parse_op_text("custom flops=2TFLOP bytes=1GB").symbol("flops") == 2e12);
    CHECK(parse_op_text("custom flops=2e12 bytes=1GB").symbol("flops") == 2e12);
    CHECK(parse_op_text("elementwise n=8 flops=0.5").symbol("flops") == 0.5);
    const std::string attention =
        "attention batch=1 q_heads=1 kv_heads=1 q_len=1 kv_len=1 head_dim=64 causal=";
    CHECK(parse_op_text(attention + "false").symbol("causal") == 0);
    CHECK(parse_op_text(attention + "true").symbol("causal") == 1);
    CHECK(parse_op_text(attention + "0").symbol("v_dim") == 64);
    CHECK(parse_op_text("gemm m=1 n=1 k=1 sparse=1").ops[0].sparse);
    CHECK_FALSE(parse_op_text("gemm m=1 n=1 k=1 sparse=false").ops[0].sparse);
  }

  TEST_CASE("op text: diagnostics with their columns") {
    CHECK(refused("") ==
          "--op:1:1: error: empty; expected KIND key=value …, such as gemm m=8192 n=8192 k=8192");
    CHECK(refused(" \t ") == refused(""));
    CHECK(refused("gem m=1") ==
          "--op:1:1: error: \"gem\" is not an operator kind; did you mean \"gemm\"?");
    CHECK(refused("  zzz") == "--op:1:3: error: \"zzz\" is not an operator kind");
    CHECK(refused("gemm m=1 n k=1") == "--op:1:10: error: \"n\" is not key=value");
    CHECK(refused("gemm =1") == "--op:1:6: error: \"=1\" is not key=value");
    CHECK(refused("gemm m=1 m=2") == "--op:1:10: error: m: given twice; expected each key once");
    CHECK(refused("gemm m=1 btch=2") ==
          "--op:1:10: error: btch: is not a key of gemm; did you mean \"batch\"? There are "
          "batch, m, n, k, in, weight, out, kv, compute, accumulate, sparse");
    CHECK(refused("gemm m=1 n=1 k=x") ==
          "--op:1:16: error: k: \"x\" is no such number; expected a whole number from 0 up");
    CHECK(refused("gemm m=1 n=1 k=1.5") ==
          "--op:1:16: error: k: \"1.5\" is no such number; expected a whole number from 0 up");
    CHECK(refused("gemm m=1 n=1 k=-1") ==
          "--op:1:16: error: k: \"-1\" is no such number; expected a whole number from 0 up");
    CHECK(refused("elementwise n=1 exps=-1") ==
          "--op:1:22: error: exps: \"-1\" is no such number; expected a number from 0 up");
    CHECK(refused("gemm m=1 n=1") ==
          "--op:1:1: error: k: missing; gemm needs it (length of the inner products)");
    CHECK(refused("softmax rows=1 cols=1 in=bf61") ==
          "--op:1:26: error: in: \"bf61\" is not a precision; did you mean \"bf16\"? There are "
          "bf16, fp8, fp64, fp32, tf32, fp16, fp8_e4m3, "
          "fp8_e5m2, fp6, fp4, mxfp4, nvfp4, int8, int4, int32");
    CHECK(refused("softmax rows=1 cols=1 in=any") ==
          "--op:1:1: error: in: storage cannot be \"any\"");
    CHECK(refused("gemm m=1 n=1 k=1 sparse=maybe") ==
          "--op:1:25: error: sparse: expected true or false");
    CHECK(refused("copy bytes=1GB") ==
          "--op:1:1: error: path: missing; expected path=h2d, d2h or d2d");
    CHECK(refused("copy bytes=1GB path=up") ==
          "--op:1:21: error: path: \"up\" is not a path; expected h2d, d2h or d2d");
    CHECK(
        refused("gemm m=1 n=1 k=1 path=h2d") ==
        "--op:1:18: error: path: is not a key of gemm; there are m, n, k, batch, in, weight, out, "
        "kv, compute, accumulate, sparse");
    CHECK(
        refused("gemm m=1 n=1 k=1 form=naive") ==
        "--op:1:18: error: form: is not a key of gemm; there are m, n, k, batch, in, weight, out, "
        "kv, compute, accumulate, sparse");
    CHECK(
        refused("attention batch=1 q_heads=1 kv_heads=1 q_len=1 kv_len=1 head_dim=1 form=flash") ==
        "--op:1:73: error: form: \"flash\" is not a form; expected fused or naive");
  }

  TEST_CASE("op text: amounts need their units") {
    CHECK(refused("copy bytes=100 path=h2d").find("--op:1:12: error: bytes: ") == 0);
    CHECK(refused("copy bytes=1GBs path=h2d").find("did you mean") != std::string::npos);
    CHECK(refused("custom flops=1GB bytes=1GB").find("--op:1:14: error: flops: ") == 0);
  }

  TEST_CASE("op text: one mistake gives one message") {
    // v_dim defaults to head_dim; that it is missing is said once.
    CHECK(refused("attention batch=1 q_heads=1 kv_heads=1 q_len=1 kv_len=1") ==
          "--op:1:1: error: head_dim: missing; attention needs it (elements of a query and key "
          "head)");
    CHECK(refused("attention batch=1 q_heads=1 kv_heads=1 q_len=1 kv_len=1 head_dim=x") ==
          "--op:1:66: error: head_dim: \"x\" is no such number; expected a whole number from 0 up");
  }

  TEST_CASE("op text: all that is wrong is said at once") {
    const std::string error = refused("gemm m=x n=y q=1");
    CHECK(error.find("q: is not a key") != std::string::npos);
    const std::string values = refused("gemm m=x n=y");
    CHECK(std::count(values.begin(), values.end(), '\n') == 2);  // m, n, and k is missing
  }

  TEST_CASE("op text: naive attention is three operators that hand on scores") {
    const OperatorGraph graph = parse_op_text(
        "attention form=naive batch=2 q_heads=4 kv_heads=2 q_len=3 kv_len=3 head_dim=8 causal=0");
    REQUIRE(graph.ops.size() == 3);
    CHECK(graph.ops[0].name == "scores");
    CHECK(graph.ops[1].kind == OperatorKind::softmax);
    CHECK(graph.ops[2].name == "values");
    CHECK(tensor(graph, "scores").role == TensorRole::intermediate);
    const BoundGraph bound = bind(graph);
    // 2 x 4 x 3 x 3 scores
    CHECK(bound.tensors[index(graph.find_tensor("scores").value())].elements == 72);
  }

  TEST_CASE("op text: naive attention without a mask is products over whole rows") {
    const OperatorGraph graph = parse_op_text(
        "attention form=naive batch=2 q_heads=4 kv_heads=2 q_len=3 kv_len=5 head_dim=8 v_dim=6 "
        "causal=0");
    CHECK(graph.ops[0].kind == OperatorKind::gemm);
    CHECK(graph.ops[2].kind == OperatorKind::gemm);
    CHECK_FALSE(graph.symbol("causal").has_value());
    const BoundGraph bound = bind(graph);
    CHECK(bound.tensors[index(graph.find_tensor("scores").value())].last_dim == 5);
    CHECK(bound.tensors[index(graph.find_tensor("v").value())].elements == 2 * 5 * 2 * 6);
    const OperatorGraph masked = parse_op_text(
        "attention form=naive batch=2 q_heads=4 kv_heads=2 q_len=3 kv_len=5 head_dim=8");
    CHECK(masked.ops[0].kind == OperatorKind::custom);
    CHECK(masked.symbol("causal") == 1);
  }
}
