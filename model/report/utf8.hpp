// SPDX-License-Identifier: Apache-2.0
// Text of any origin made fit for an output: well-formed UTF-8, harmless to a terminal, of a known
// width. A code point counts as one column: combining marks and double-width scripts do not line
// up.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace floorline {

/// One code point at the front of a text. Malformed: the longest prefix that could have begun one.
struct CodePoint {
  std::size_t bytes = 1;
  bool well_formed = false;
};

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

/// What `text`, which is not empty, begins with (The Unicode Standard, table 3-7).
CodePoint first_code_point(std::string_view text);

/// Each malformed sequence becomes U+FFFD.
std::string well_formed(std::string_view text);

/// One line for people: well-formed, line breaks and tabs as spaces, control characters as \x1b.
std::string printable(std::string_view text);

/// For formats that keep line breaks: well-formed, control characters but \n, \r and \t as \x1b.
std::string harmless(std::string_view text);

/// Columns that well-formed text takes.
std::size_t display_width(std::string_view text);

/// Well-formed text cut to at most `width` columns, which is not 0; a cut one ends in an ellipsis.
std::string cut_to_width(std::string_view text, std::size_t width);

}  // namespace floorline
