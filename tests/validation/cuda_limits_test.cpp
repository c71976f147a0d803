// SPDX-License-Identifier: Apache-2.0
// What the CUDA backend decides without a device.
#include "validation/experiment/cuda/cuda_limits.hpp"

#include <doctest/doctest.h>

#include <string>

#include "model/device/device_file.hpp"
#include "validation/experiment/cuda/cuda_backend.hpp"
#include "validation/experiment/cuda/nvml_library.hpp"
#include "validation/experiment/cuda/product_kinds.hpp"

using namespace floorline;

namespace {

std::string why_not(const char* text, const cuda::Installation& installation = {}) {
  return cuda::why_not_on_cuda(parse_experiment(text), installation);
}
bool says(const std::string& message, const char* word) {
  return message.find(word) != std::string::npos;
}

DeviceSpec h200() { return load_device("h200_sxm", DevicePath{{"devices"}}); }

}  // namespace

TEST_SUITE_BEGIN("validation");

TEST_CASE("experiments for two devices say how many there are") {
  CHECK(why_not("peer_copy bytes=4MiB") == "needs 2 devices; there is 1");
  CHECK(why_not("all_reduce bytes=4MiB ranks=8", {.devices = 4}) == "needs 8 devices; there are 4");
  CHECK(why_not("all_reduce bytes=4MiB ranks=8", {.devices = 8}).empty());
}

TEST_CASE("a format or an arithmetic without a kernel is refused by name") {
  CHECK(why_not("copy n=1024").empty());
  CHECK(why_not("copy n=1024 in=fp64").empty());
  CHECK(says(why_not("copy n=1024 in=fp8"), "fp8_e4m3"));
  CHECK(says(why_not("copy n=1024 in=fp32 out=bf16"), "out=bf16 differs from in=fp32"));
  CHECK(why_not("layernorm rows=4 cols=64 in=fp16 compute=fp16 accumulate=fp32").empty());
  CHECK(why_not("layernorm rows=4 cols=64 in=fp16 weight=fp32").empty());
  CHECK(says(why_not("layernorm rows=4 cols=64 in=fp16 weight=bf16"), "as fp32, not bf16"));
  CHECK(says(why_not("layernorm_three rows=4 cols=64 in=fp16 compute=fp16 accumulate=fp32"),
             "computes and accumulates in fp32"));
  CHECK(says(why_not("softmax rows=4 cols=64 in=fp64"), "fp64 data would be rounded"));
  CHECK(says(why_not("attention_tiled heads=1 q_len=8 kv_len=8 head_dim=256"), "head_dim <= 128"));
}

TEST_CASE("products need cuBLAS, and only those that it has") {
  const cuda::Installation bare{.devices = 1, .cublas = false, .no_cublas = "cuBLAS is missing"};
  CHECK(why_not("gemm m=8 n=8 k=8", bare) == "cuBLAS is missing");
  CHECK(why_not("gemv n=8 k=8", bare).empty());
  CHECK(why_not("gemm m=8 n=8 k=8 compute=tf32").empty());
  CHECK(says(why_not("gemm m=8 n=8 k=8 in=bf16 weight=fp16"), "one format"));
  using cuda::ProductArithmetic;
  const auto kind = [](Precision in, Precision out, Precision compute, Precision accumulate) {
    return cuda::arithmetic_of({in, out, compute, accumulate});
  };
  constexpr Precision kHalf = Precision::fp16;
  constexpr Precision kFull = Precision::fp32;
  CHECK(kind(kHalf, kHalf, kHalf, kFull) == ProductArithmetic::mixed);
  CHECK(kind(kHalf, kHalf, kHalf, kHalf) == ProductArithmetic::fp16);
  CHECK(kind(Precision::bf16, Precision::bf16, Precision::bf16, Precision::bf16) ==
        ProductArithmetic::none);
  CHECK(kind(kFull, kFull, kFull, kFull) == ProductArithmetic::fp32);
  CHECK(kind(kFull, kFull, Precision::tf32, kFull) == ProductArithmetic::tf32);
  CHECK(kind(kHalf, kHalf, kFull, kFull) == ProductArithmetic::none);  // fp16 data upcast
  CHECK(kind(Precision::fp64, Precision::fp64, Precision::fp64, Precision::fp64) ==
        ProductArithmetic::fp64);
}

TEST_CASE("a device file of another device is found out") {
  // H200 SXM: 132 multiprocessors, compute capability 9.0 (devices/h200_sxm.toml).
  cuda::DeviceFacts facts{
      .name = "NVIDIA H200", .major = 9, .minor = 0, .multiprocessors = 132, .total_memory = 0};
  const DeviceSpec device = h200();
  REQUIRE(device.hbm.driver_capacity);
  facts.total_memory =
      static_cast<std::uint64_t>(device.hbm.driver_capacity->value.in_base_units());
  CHECK(cuda::contradictions(device, facts).empty());
  facts.multiprocessors = 114;
  facts.minor = 6;
  facts.total_memory /= 2;
  CHECK(cuda::contradictions(device, facts).size() == 3);
  CHECK(says(cuda::contradictions(device, facts)[1], "132, the driver 114"));
}

TEST_CASE("what holds the clocks down is named, unknown bits too") {
  CHECK(cuda::throttle_words(0) == "none");
  CHECK(cuda::throttle_words(0x1) == "idle");
  CHECK(cuda::throttle_words(0x4 | 0x40) == "software power cap, hardware thermal slowdown");
  CHECK(cuda::throttle_words(0x1000) == "unknown bits 4096");
}

TEST_CASE("without a driver NVML tells nothing, and nothing is made up") {
  const cuda::NvmlLibrary none("0000:ff:1f.7");  // no such device even where there is a driver
  const MachineState state = none.state();
  CHECK_FALSE(state.sm_clock);
  CHECK_FALSE(state.temperature_celsius);
  CHECK_FALSE(state.power_watts);
  CHECK_FALSE(state.throttle_reasons);
}

TEST_CASE("a machine without a device is said to be one") {
  try {
    make_cuda_backend(machine_of(h200(), {}), 9999);  // nowhere are there so many
    FAIL("expected a MeasurementError");
  } catch (const MeasurementError& error) {
    const std::string message = error.what();
    CHECK((says(message, "no CUDA device") || says(message, "not built in") ||
           says(message, "there is no CUDA device 9999")));
  }
}

TEST_SUITE_END();
