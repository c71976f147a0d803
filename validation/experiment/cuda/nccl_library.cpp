// SPDX-License-Identifier: Apache-2.0
// Types and numbers of NCCL's C interface (nccl.h, stable since 2.0): a result is an int, 0
// success; ncclFloat32 is 7, ncclSum is 0.
#include "validation/experiment/cuda/nccl_library.hpp"

#include <dlfcn.h>

#include <string>

#include "validation/experiment/method.hpp"

namespace floorline::cuda {

struct NcclGroup::Entries {
  using Comm = void*;
  void* object = nullptr;  ///< what dlopen gave
  int (*init_all)(Comm*, int, const int*) = nullptr;
  int (*destroy)(Comm) = nullptr;
  int (*group_start)() = nullptr;
  int (*group_end)() = nullptr;
  int (*all_reduce)(const void*, void*, std::size_t, int, int, Comm, CUstream_st*) = nullptr;
  std::vector<Comm> comms;
};

namespace {

constexpr int kFloat32 = 7;
constexpr int kSum = 0;

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) throw MeasurementError(std::string("NCCL has no ") + name);
}
void check(int result, const char* call) {
  if (result == 0) return;
  throw MeasurementError(std::string("NCCL: ") + call + ": result " + std::to_string(result));
}

}  // namespace

NcclGroup::NcclGroup(int ranks) : entries_(std::make_unique<Entries>()) {
  Entries& e = *entries_;
  e.object = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (e.object == nullptr) throw MeasurementError("NCCL (libnccl.so.2) was not found");
  find(e.object, "ncclCommInitAll", e.init_all);
  find(e.object, "ncclCommDestroy", e.destroy);
  find(e.object, "ncclGroupStart", e.group_start);
  find(e.object, "ncclGroupEnd", e.group_end);
  find(e.object, "ncclAllReduce", e.all_reduce);
  std::vector<int> devices;
  for (int rank = 0; rank < ranks; ++rank) devices.push_back(rank);
  e.comms.resize(devices.size());
  check(e.init_all(e.comms.data(), ranks, devices.data()), "ncclCommInitAll");
}

NcclGroup::~NcclGroup() {
  for (Entries::Comm comm : entries_->comms) {
    if (comm != nullptr) entries_->destroy(comm);
  }
}

void NcclGroup::all_reduce(const std::vector<const float*>& in, const std::vector<float*>& out,
                           std::size_t count, const std::vector<CUstream_st*>& streams) const {
  const Entries& e = *entries_;
  check(e.group_start(), "ncclGroupStart");
  for (std::size_t rank = 0; rank < e.comms.size(); ++rank) {
    check(e.all_reduce(in[rank], out[rank], count, kFloat32, kSum, e.comms[rank], streams[rank]),
          "ncclAllReduce");
  }
  check(e.group_end(), "ncclGroupEnd");
}

}  // namespace floorline::cuda
