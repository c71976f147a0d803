// SPDX-License-Identifier: Apache-2.0
#include "model/input/diagnostic.hpp"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

namespace floorline {
namespace {

// A hostile file can hold millions of mistakes and keys of megabytes: enough is enough.
constexpr std::size_t kMaxDiagnostics = 1000;
constexpr std::size_t kMaxKeyPathBytes = 300;
constexpr std::size_t kMaxMessageBytes = 2000;

/// Keeps a message on one line and a terminal unharmed, whatever the input holds.
void append_printable(std::string& out, std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    auto byte = static_cast<unsigned char>(c);
    const bool c1 = byte == 0xC2 && i + 1 < text.size() &&  // U+0080 to U+009F
                    static_cast<unsigned char>(text[i + 1]) >= 0x80 &&
                    static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if (c1) byte = static_cast<unsigned char>(text[++i]);
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c1 || byte < 0x20 || byte == 0x7F) {
      out += "\\x";
      out += kHex[byte >> 4U];
      out += kHex[byte & 0xFU];
    } else {
      out += c;
    }
  }
}

std::string joined(const std::vector<Diagnostic>& diagnostics) {
  std::string all;
  for (const Diagnostic& d : diagnostics) {
    if (!all.empty()) all += '\n';
    all += to_text(d);
  }
  return all;
}

std::vector<Diagnostic> only(Diagnostic diagnostic) {
  std::vector<Diagnostic> one;
  one.push_back(std::move(diagnostic));
  return one;
}

bool same_file(const Position& a, const Position& b) {
  return a.file == b.file || (a.file && b.file && *a.file == *b.file);
}

}  // namespace

std::string to_text(const Diagnostic& diagnostic) {
  std::string out;
  const Position& at = diagnostic.at;
  if (at.file) {
    append_printable(out, *at.file);
    if (at.line != 0) {
      out += ':' + std::to_string(at.line);
      if (at.column != 0) out += ':' + std::to_string(at.column);
    }
    out += ": ";
  }
  out += "error: ";
  if (!diagnostic.key_path.empty()) {
    append_printable(out, diagnostic.key_path);
    out += ": ";
  }
  append_printable(out, diagnostic.message);
  return out;
}

InputError::InputError(std::vector<Diagnostic> diagnostics)
    : std::runtime_error(joined(diagnostics)), diagnostics_(std::move(diagnostics)) {}

InputError::InputError(Diagnostic diagnostic) : InputError(only(std::move(diagnostic))) {}

void Diagnostics::add(const Position& at, std::string key_path, std::string message) {
  if (full()) return;
  if (all_.size() == kMaxDiagnostics) {
    all_.push_back({position_in(at.file ? *at.file : ""), "", "more errors are not shown"});
    return;
  }
  if (key_path.size() > kMaxKeyPathBytes) key_path = shortened(key_path, kMaxKeyPathBytes);
  if (message.size() > kMaxMessageBytes) message = shortened(message, kMaxMessageBytes);
  const auto is_same = [&](const Diagnostic& d) {
    const bool same_place = d.at.line == at.line && d.at.column == at.column;
    return same_place && same_file(d.at, at) && d.key_path == key_path && d.message == message;
  };
  if (std::any_of(all_.begin(), all_.end(), is_same)) return;
  all_.push_back({at, std::move(key_path), std::move(message)});
}

bool Diagnostics::full() const { return all_.size() > kMaxDiagnostics; }

void Diagnostics::throw_if_any() const {
  if (all_.empty()) return;
  std::vector<Diagnostic> sorted = all_;
  const auto earlier = [](const Diagnostic& a, const Diagnostic& b) {
    const auto no_line = [](const Diagnostic& d) { return d.at.line == 0; };
    return std::tuple(no_line(a), a.at.line, a.at.column) <
           std::tuple(no_line(b), b.at.line, b.at.column);
  };
  for (auto first = sorted.begin(); first != sorted.end();) {
    const auto other_file = [&](const Diagnostic& d) { return !same_file(d.at, first->at); };
    const auto end = std::find_if(first, sorted.end(), other_file);
    std::stable_sort(first, end, earlier);
    first = end;
  }
  throw InputError(std::move(sorted));
}

Position position_in(std::string_view file, std::uint32_t line, std::uint32_t column) {
  return {std::make_shared<const std::string>(file), line, column};
}

std::string wrong_name(std::string_view name) {
  if (name.find_first_not_of(" \t\n\r") == std::string_view::npos)
    return "is empty; expected a name";
  std::string printed;
  append_printable(printed, name);
  if (printed != name) return "has a control character; expected plain text";
  return {};
}

std::string shortened(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return std::string(text);
  std::size_t end = max_bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return std::string(text.substr(0, end)) + "...";
}

}  // namespace floorline
