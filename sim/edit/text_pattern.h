// A regular expression over kernel names: compiled once, plain words without the expression engine.
#pragma once

#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/result.h"

namespace foretrace::selecting {

/// Finds an ECMAScript expression anywhere in a text. Time grows with the square of the text at
/// most, whatever the expression, and no recursion depends on the text.
class TextPattern {
 public:
  [[nodiscard]] static Result<TextPattern> compile(std::string_view expression);
  [[nodiscard]] bool found_in(std::string_view text) const;

 private:
  std::vector<std::string> words_;  // "gemm|conv": any of them; used where there is no regex
  std::optional<std::regex> regex_;
};

}  // namespace foretrace::selecting
