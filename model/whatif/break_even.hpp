// SPDX-License-Identifier: Apache-2.0
// Where along one change the binding resource moves: of one kernel the resource of its floor, of a
// graph the one with the largest share of the serial cold floor.
//   one kernel  each term is a·v, a or a/v: the crossing t_b·f^p = t_r·f^q gives f =
//   (t_b/t_r)^(1/(q-p)) else        the factor is doubled (halved) until the binding differs, then
//   the interval is
//               halved; whole numbers end at the first that differs
// The search goes on beyond the new value, in its direction. Not found: a binding that moves and
// moves back between two doublings.
#pragma once

#include "model/whatif/variables.hpp"

namespace floorline {

struct BreakEvenValue {
  double value = 0;
  double factor = 0;  ///< over the present value
  std::string text;
  ResourceId to;       ///< what binds there (at the value itself: a tie)
  bool within = true;  ///< false: beyond the new value
};

struct BreakEvenAnswer {
  std::optional<BreakEvenValue> found;
  std::string reason;  ///< why there is none
};

BreakEvenAnswer break_even_along(const Situation& situation, const Outcome& before,
                                 const Variable& variable);

}  // namespace floorline
