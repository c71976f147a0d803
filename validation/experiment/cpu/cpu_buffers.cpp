// SPDX-License-Identifier: Apache-2.0
#include "validation/experiment/cpu/cpu_buffers.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "model/quantity/expect.hpp"
#include "validation/experiment/kernel_bodies/number.hpp"
#include "validation/experiment/method.hpp"

namespace floorline::cpu {

namespace {

// Regions start some cache lines past a page, each further than the last: equal offsets would
// put all streams in the same cache sets.
constexpr std::int64_t kPage = 4096;
constexpr std::int64_t kSkew = 320;  // 5 cache lines

std::int64_t width(Precision precision) {
  return static_cast<std::int64_t>(storage_bits(precision)) / 8;
}

template <class T>
void widen(const void* from, std::vector<double>& to) {
  const T* x = static_cast<const T*>(from);
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = static_cast<double>(bodies::to_float(x[i]));
}
template <class T>
void narrow(const std::vector<float>& from, void* to) {
  T* x = static_cast<T*>(to);
  for (std::size_t i = 0; i < from.size(); ++i) x[i] = bodies::stored<T>(from[i]);
}

void store_as(Precision precision, const std::vector<float>& from, void* to) {
  switch (precision) {
    case Precision::fp64:
      return narrow<double>(from, to);
    case Precision::bf16:
      return narrow<bodies::Bf16>(from, to);
    case Precision::fp16:
      return narrow<bodies::Fp16>(from, to);
    default:
      return narrow<float>(from, to);
  }
}
void load_as(Precision precision, const void* from, std::vector<double>& to) {
  switch (precision) {
    case Precision::fp64:
      return widen<double>(from, to);
    case Precision::bf16:
      return widen<bodies::Bf16>(from, to);
    case Precision::fp16:
      return widen<bodies::Fp16>(from, to);
    default:
      return widen<float>(from, to);
  }
}

/// Weights of norms are the last two inputs; those of products the second.
bool is_weight(const ExperimentSpec& spec, std::size_t input, std::size_t inputs) {
  switch (spec.kind) {
    case ExperimentKind::layernorm:
    case ExperimentKind::layernorm_three:
    case ExperimentKind::residual_norm:
    case ExperimentKind::residual_norm_one:
      return input + 2 >= inputs;
    case ExperimentKind::gemm:
    case ExperimentKind::gemv:
      return input == 1;
    default:
      return false;
  }
}
Precision format_of(const ExperimentSpec& spec, std::size_t input, std::size_t inputs) {
  return is_weight(spec, input, inputs) ? spec.precision.weight : spec.precision.in;
}

/// Offsets within one set, in the order they are asked for.
class Layout {
 public:
  /// `shift` bytes beside the alignment: what the offset of an experiment asks for.
  // NOLINTNEXTLINE(bugprone-easily-swappable-parameters): two amounts of bytes
  std::int64_t place(std::int64_t bytes, std::int64_t shift) {
    const std::int64_t at = next_ + count_ * kSkew + shift;
    ++count_;
    next_ = (at + bytes + kPage - 1) / kPage * kPage;
    return at;
  }
  [[nodiscard]] std::int64_t size() const { return next_; }

 private:
  std::int64_t next_ = 0;
  std::int64_t count_ = 0;
};

struct Offsets {
  std::int64_t in[4] = {-1, -1, -1, -1};
  std::int64_t index = -1, out = 0, on_chip = -1, on_chip_stride = 0;
  std::int64_t scratch[4] = {-1, -1, -1, -1};
  std::int64_t size = 0;
};

Offsets layout(const ExperimentSpec& spec, const ExperimentData& data, const CpuPlan& plan,
               std::int64_t workers) {
  Layout place;
  Offsets o;
  FLOORLINE_EXPECT(data.inputs.size() <= 4);
  for (std::size_t i = 0; i < data.inputs.size(); ++i) {
    const std::int64_t each = width(format_of(spec, i, data.inputs.size()));
    o.in[i] = place.place(static_cast<std::int64_t>(data.inputs[i].size()) * each,
                          spec.sizes.offset * each);
  }
  if (!data.indices.empty()) {
    o.index = place.place(static_cast<std::int64_t>(data.indices.size()) * 4, 0);
  }
  const std::int64_t each = width(spec.precision.out);
  o.out = place.place(std::max<std::int64_t>(data.output_size * each, 8), spec.sizes.offset * each);
  for (int i = 0; i < 4; ++i) {
    if (plan.scratch[i] > 0) o.scratch[i] = place.place(plan.scratch[i], 0);
  }
  if (plan.on_chip_bytes > 0) {
    o.on_chip_stride = (plan.on_chip_bytes + 127) / 64 * 64;
    o.on_chip = place.place(o.on_chip_stride * workers, 0);
  }
  o.size = place.size();
  return o;
}

KernelArguments arguments_at(char* base, const Offsets& o, const KernelShape& shape) {
  const auto at = [base](std::int64_t offset) -> void* {
    return offset < 0 ? nullptr : base + offset;
  };
  KernelArguments a;
  a.shape = shape;
  for (int i = 0; i < 4; ++i) {
    a.in[i] = at(o.in[i]);
    a.scratch[i] = at(o.scratch[i]);
  }
  a.index = static_cast<const std::int32_t*>(at(o.index));
  a.out = at(o.out);
  a.on_chip = at(o.on_chip);
  a.on_chip_stride = o.on_chip_stride;
  return a;
}

}  // namespace

Mapping::Mapping(std::size_t bytes)
    : bytes_(bytes),
      memory_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
  if (memory_ == MAP_FAILED) {
    throw MeasurementError("the system gives no " + std::to_string(bytes / 1048576) +
                           " MiB of memory");
  }
  madvise(memory_, bytes, MADV_HUGEPAGE);
}

Mapping::~Mapping() { munmap(memory_, bytes_); }

CpuBuffers::CpuBuffers(const ExperimentSpec& spec, const ExperimentData& data, const CpuPlan& plan,
                       const BufferOptions& options)
    : spec_(spec),
      output_size_(data.output_size),
      spare_(options.spare),
      memory_(std::move(options.spare)) {
  const std::int64_t sets = options.sets;
  const Offsets offsets = layout(spec, data, plan, options.workers);
  set_bytes_ = offsets.size;
  constexpr std::int64_t kHugePage = std::int64_t{2} << 20;
  const auto bytes =
      static_cast<std::size_t>((set_bytes_ * sets + kHugePage - 1) / kHugePage * kHugePage);
  if (!memory_ || memory_->size() < bytes) {
    memory_.reset();  // before the larger one is asked for
    memory_ = std::make_unique<Mapping>(bytes);
  }
  const KernelShape shape = shape_of(spec);
  for (std::int64_t set = 0; set < sets; ++set) {
    arguments_.push_back(arguments_at(memory_->data() + set * set_bytes_, offsets, shape));
  }
  fill(data);
}

CpuBuffers::~CpuBuffers() {
  if (!spare_ || spare_->size() < memory_->size()) spare_ = std::move(memory_);
}

/// The first set from the data, the others from the first: their pages are distinct. Everything is
/// touched, outputs too, so that no page fault is timed.
void CpuBuffers::fill(const ExperimentData& data) {
  char* first = memory_->data();
  std::memset(first, 0, static_cast<std::size_t>(set_bytes_));
  for (std::size_t i = 0; i < data.inputs.size(); ++i) {
    store_as(format_of(spec_, i, data.inputs.size()), data.inputs[i],
             const_cast<void*>(arguments_.front().in[i]));  // NOLINT: ours to fill
  }
  if (!data.indices.empty()) {
    auto* index = const_cast<std::int32_t*>(arguments_.front().index);  // NOLINT: ours to fill
    std::memcpy(index, data.indices.data(), data.indices.size() * sizeof(std::int32_t));
  }
  for (std::size_t set = 1; set < arguments_.size(); ++set) {
    std::memcpy(first + static_cast<std::int64_t>(set) * set_bytes_, first,
                static_cast<std::size_t>(set_bytes_));
  }
}

std::vector<double> CpuBuffers::output(std::int64_t set) const {
  std::vector<double> values(static_cast<std::size_t>(output_size_));
  load_as(spec_.precision.out, arguments(set).out, values);
  return values;
}

void CpuBuffers::poison_output(std::int64_t set) const {
  const std::vector<float> nan(static_cast<std::size_t>(output_size_),
                               std::numeric_limits<float>::quiet_NaN());
  store_as(spec_.precision.out, nan, arguments(set).out);
}

}  // namespace floorline::cpu
