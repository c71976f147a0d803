// SPDX-License-Identifier: Apache-2.0
#include "model/report/utf8.hpp"

namespace floorline {
namespace {

unsigned byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

bool continues(unsigned byte) { return (byte & 0xC0U) == 0x80U; }

/// Bytes of the sequence that `lead` begins; 0 if none begins so.
std::size_t sequence_bytes(unsigned lead) {
  if (lead < 0x80) return 1;
  if (lead < 0xC2) return 0;  // a continuation, or two bytes for what fits in one
  if (lead < 0xE0) return 2;
  if (lead < 0xF0) return 3;
  return lead < 0xF5 ? 4 : 0;
}

/// Some leads allow less than 80..BF next: no longer form than needed, no surrogate, no code point
/// above 10FFFF.
bool second_byte_fits(std::string_view text) {
  const unsigned lead = byte_at(text, 0);
  const unsigned second = byte_at(text, 1);
  if (!continues(second)) return false;
  if (lead == 0xE0) return second >= 0xA0;
  if (lead == 0xED) return second < 0xA0;
  if (lead == 0xF0) return second >= 0x90;
  if (lead == 0xF4) return second < 0x90;
  return true;
}

/// C0, DEL, and C1 (C2 80 to C2 9F), which some terminals obey as well.
bool is_control(std::string_view code_point) {
  const unsigned lead = byte_at(code_point, 0);
  if (code_point.size() == 1) return lead < 0x20 || lead == 0x7F;
  return lead == 0xC2 && byte_at(code_point, 1) < 0xA0;
}

void append_printable(std::string& out, std::string_view code_point) {
  constexpr std::string_view kHex = "0123456789abcdef";
  const unsigned last = byte_at(code_point, code_point.size() - 1);
  if (code_point == "\n" || code_point == "\r" || code_point == "\t") {
    out += ' ';
  } else if (is_control(code_point)) {
    out += "\\x";
    out += kHex[last >> 4U];
    out += kHex[last & 0xFU];
  } else {
    out += code_point;
  }
}

}  // namespace

CodePoint first_code_point(std::string_view text) {
  const unsigned lead = byte_at(text, 0);
  const std::size_t wanted = sequence_bytes(lead);
  if (wanted < 2) return {1, wanted == 1};
  if (text.size() < 2 || !second_byte_fits(text)) return {1, false};
  std::size_t bytes = 2;
  while (bytes < wanted && bytes < text.size() && continues(byte_at(text, bytes))) ++bytes;
  return {bytes, bytes == wanted};
}

std::string well_formed(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const CodePoint first = first_code_point(text);
    out += first.well_formed ? text.substr(0, first.bytes) : kReplacement;
    text.remove_prefix(first.bytes);
  }
  return out;
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const CodePoint first = first_code_point(text);
    append_printable(out, first.well_formed ? text.substr(0, first.bytes) : kReplacement);
    text.remove_prefix(first.bytes);
  }
  return out;
}

std::string harmless(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const CodePoint first = first_code_point(text);
    const std::string_view point = text.substr(0, first.bytes);
    if (point == "\n" || point == "\r" || point == "\t") {
      out += point;
    } else {
      append_printable(out, first.well_formed ? point : kReplacement);
    }
    text.remove_prefix(first.bytes);
  }
  return out;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!continues(byte_at(text, i))) ++width;
  }
  return width;
}

std::string cut_to_width(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  std::size_t columns = 0;
  std::size_t end = 0;
  while (columns + 1 < width) {
    end += first_code_point(text.substr(end)).bytes;
    ++columns;
  }
  return std::string(text.substr(0, end)) + "…";
}

}  // namespace floorline
