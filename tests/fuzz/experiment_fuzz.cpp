// SPDX-License-Identifier: Apache-2.0
// Any bytes as an experiment: an InputError, or one that reads back from its own text and whose
// sizes are finite.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "model/input/diagnostic.hpp"
#include "validation/experiment/experiment.hpp"
#include "validation/experiment/prediction.hpp"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace floorline;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const ExperimentSpec spec = parse_experiment(text);
    const ExperimentSpec again = parse_experiment(text_of(spec));
    if (!(again.sizes == spec.sizes) || !(again.precision == spec.precision)) std::abort();
    if (!std::isfinite(footprint(spec).in_base_units())) std::abort();
    prediction_text(spec);
  } catch (const InputError&) {
    return 0;
  }
  return 0;
}
