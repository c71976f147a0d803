// SPDX-License-Identifier: Apache-2.0
#include "model/sweep/grid.hpp"

#include <cmath>
#include <limits>

#include "model/input/diagnostic.hpp"
#include "model/quantity/unit_names.hpp"

namespace floorline {

namespace {

constexpr double kMostPoints = 9007199254740992.0;  // 2^53
constexpr double kLargest = 1e30;                   // as elsewhere: beyond what could be meant
constexpr double kRounding = 1e-9;                  // of a step that should hit the end

[[noreturn]] void refuse(const std::string& name, const std::string& why) {
  throw InputError(Diagnostic{position_in("command line"), "--grid " + name, why});
}

double number_in(const std::string& name, std::string_view text, const char* what) {
  const std::optional<double> value = parse_number(text);
  if (!value || !std::isfinite(*value) || std::abs(*value) > kLargest) {
    refuse(name, quoted(text) + " is not " + what +
                     " of a range first..last:+step or first..last:*factor");
  }
  return *value;
}

}  // namespace

GridAxis GridAxis::parse(std::string_view text) {
  const Assignment a = parse_assignment(text);
  GridAxis axis;
  axis.name_ = a.name;
  axis.scale_ = a.scale;
  if (a.value.find("..") == std::string::npos) {
    axis.read_list(a.value);
  } else {
    axis.read_range(a.value);
  }
  return axis;
}

void GridAxis::read_list(std::string_view values) {
  std::size_t start = 0;
  while (start <= values.size()) {
    const std::size_t end = std::min(values.find(',', start), values.size());
    std::string_view value = values.substr(start, end - start);
    while (value.starts_with(' ')) value.remove_prefix(1);
    while (value.ends_with(' ')) value.remove_suffix(1);
    if (value.empty()) refuse(name_, "has an empty value; expected " + name_ + "=a,b,c");
    const std::optional<double> number = parse_number(value);
    numeric_ = numeric_ && number.has_value();
    texts_.emplace_back(value);
    numbers_.push_back(number.value_or(std::numeric_limits<double>::quiet_NaN()));
    start = end + 1;
  }
  count_ = texts_.size();
}

void GridAxis::read_range(std::string_view values) {
  const std::size_t dots = values.find("..");
  const std::size_t colon = values.find(':', dots);
  if (colon == std::string_view::npos || colon + 2 > values.size() ||
      (values[colon + 1] != '+' && values[colon + 1] != '*')) {
    refuse(name_,
           quoted(values) + " has no step; expected first..last:+step or first..last:*factor");
  }
  const double first = number_in(name_, values.substr(0, dots), "the first value");
  const double last = number_in(name_, values.substr(dots + 2, colon - dots - 2), "the last value");
  const double step = number_in(name_, values.substr(colon + 2), "the step");
  if (last < first) refuse(name_, "the last value is below the first; expected a range that rises");
  if (values[colon + 1] == '+') {
    if (!(step > 0)) refuse(name_, "a step must be above 0");
    const double count = std::floor((last - first) / step + kRounding) + 1;
    if (!(count <= kMostPoints)) refuse(name_, "more than 2^53 values; expected a larger step");
    first_ = first;
    step_ = step;
    count_ = static_cast<std::uint64_t>(count);
    return;
  }
  if (!(step > 1) || !(first > 0))
    refuse(name_, "a factor must be above 1 and the first value above 0");
  constexpr std::size_t kMostFactors = 1'000'000;
  for (double x = first; x <= last * (1 + kRounding); x *= step) {
    if (numbers_.size() == kMostFactors)
      refuse(name_, "more than 1,000,000 values; expected a larger factor");
    numbers_.push_back(x);
  }
  count_ = numbers_.size();
}

std::string GridAxis::text(std::uint64_t i) const {
  return texts_.empty() ? exact_text(number(i)) : texts_[static_cast<std::size_t>(i)];
}

double GridAxis::number(std::uint64_t i) const {
  if (!numbers_.empty()) return numbers_[static_cast<std::size_t>(i)];
  return first_ + static_cast<double>(i) * step_;
}

Grid::Grid(std::vector<GridAxis> axes, std::uint64_t devices) : axes_(std::move(axes)) {
  double points = static_cast<double>(devices);
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    points *= static_cast<double>(axes_[a].count());
    for (std::size_t b = 0; b < a; ++b) {
      if (axes_[a].name() == axes_[b].name())
        refuse(axes_[a].name(), "is there twice; expected one list of values");
    }
  }
  if (!(points <= kMostPoints)) {
    throw InputError(Diagnostic{position_in("command line"), "--grid",
                                "more than 2^53 points; expected a smaller grid"});
  }
  points_ = static_cast<std::uint64_t>(points);
}

std::uint64_t Grid::place(std::uint64_t point, std::vector<std::uint64_t>& digits) const {
  for (std::size_t a = axes_.size(); a-- > 0;) {
    digits[a] = point % axes_[a].count();
    point /= axes_[a].count();
  }
  return point;
}

PointRange Grid::part(std::uint64_t part, std::uint64_t parts) const {
  // points / parts each, one more for the first ones.
  const std::uint64_t each = points_ / parts;
  const std::uint64_t more = points_ % parts;
  const auto before = [&](std::uint64_t i) { return i * each + std::min(i, more); };
  return {before(part - 1), before(part)};
}

}  // namespace floorline
