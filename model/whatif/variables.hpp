// SPDX-License-Identifier: Apache-2.0
// The variables of a situation: which names a change may have, what they are now, and the numbers
// between now and then.
#pragma once

#include <functional>

#include "model/whatif/situation.hpp"

namespace floorline {

/// A change as numbers: the situation at any value in between (and beyond).
struct ChangePath {
  double from = 0;
  double to = 0;
  bool whole = false;  ///< counts: no fractions
  std::function<Assignment(double)> at;
  std::function<std::string(double)> text;
};

struct Variable {
  std::string from;  ///< as people write it
  std::string to;
  std::optional<ChangePath> path;  ///< absent: a word, a precision, a device, an operator
  /// What `from` and `to` are of: one execution, and so many of them are counted. Amounts of
  /// operators only; absent where operators that run unequally often share the name.
  std::optional<double> executions = 1;
};

/// Throws InputError with all that is wrong: names that do not exist (listing what does), one
/// variable changed twice, values that are zero, negative or no numbers.
void check_changes(const Situation& situation, const Outcome& before,
                   const std::vector<Assignment>& changes);

/// `change` has passed check_changes().
Variable variable_of(const Situation& situation, const Outcome& before, const Assignment& change);

/// "; did you mean …; there are …": the names of the sort that `name` seems to be, cut where there
/// are many.
std::string what_can_change(const Situation& situation, const Outcome& before,
                            std::string_view name);

}  // namespace floorline
