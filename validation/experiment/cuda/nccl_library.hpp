// SPDX-License-Identifier: Apache-2.0
// NCCL, loaded at run time: sums over devices. Only what the all_reduce experiment needs.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

struct CUstream_st;

namespace floorline::cuda {

/// One communicator over devices 0 … ranks - 1 of this process.
class NcclGroup {
 public:
  /// Throws MeasurementError: not found, or a call failed.
  explicit NcclGroup(int ranks);
  NcclGroup(const NcclGroup&) = delete;
  NcclGroup& operator=(const NcclGroup&) = delete;
  ~NcclGroup();
  /// out[r] = sum over r of in[r], `count` floats each, on streams[r].
  void all_reduce(const std::vector<const float*>& in, const std::vector<float*>& out,
                  std::size_t count, const std::vector<CUstream_st*>& streams) const;

 private:
  struct Entries;
  std::unique_ptr<Entries> entries_;
};

}  // namespace floorline::cuda
