// A regular expression over kernel names: compiled once; who includes this pays for no engine.
#pragma once

#include <memory>
#include <string_view>

#include "sim/core/result.h"

namespace re2 {
class RE2;
}  // namespace re2

namespace foretrace::selecting {

/// Finds an ECMAScript expression anywhere in a text, byte by byte. Time grows with the text alone,
/// whatever the expression; so there are neither look-around nor back references.
class TextPattern {
 public:
  [[nodiscard]] static Result<TextPattern> compile(std::string_view expression);
  [[nodiscard]] bool found_in(std::string_view text) const;

 private:
  std::shared_ptr<const re2::RE2> regex_;  // null: nothing is found
};

}  // namespace foretrace::selecting
