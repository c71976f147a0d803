// SPDX-License-Identifier: Apache-2.0
// Names of modules as quantization configurations write them: "lm_head", "model.layers.3.mlp",
// "model.layers.*.self_attn", "re:.*mlp.gate$". Internal to quantization.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace floorline {

class ModulePattern {
 public:
  /// `error` says what is not understood; empty: fine.
  ModulePattern(std::string_view text, std::string& error);

  /// `module` is "layers.3.mlp.up_proj" or "lm_head". A pattern without stars names a module or one
  /// that it is part of.
  [[nodiscard]] bool matches(const std::string& module) const;
  /// The layer that the pattern names; -1: any.
  [[nodiscard]] int layer() const { return layer_; }

 private:
  enum class Kind : unsigned char { part, glob, regex, nothing };
  struct Atom {
    char character = 0;  ///< 0: any; 1: a digit
    bool repeated = false;
    bool optional = false;
  };
  [[nodiscard]] bool regex_matches(std::string_view name) const;
  void read_regex(std::string_view text, std::string& error);

  Kind kind_ = Kind::part;
  std::string text_;
  std::vector<Atom> atoms_;
  bool at_end_ = false;  ///< ends in $
  int layer_ = -1;
};

}  // namespace floorline
