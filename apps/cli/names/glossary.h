// The words of answers: what each means, and what to do about it. One table, for explain and list.
#pragma once

#include <span>
#include <string_view>

namespace foretrace::app {

struct Word {
  std::string_view name;     ///< as `explain` takes it: "first_use" is printed as "first use"
  std::string_view summary;  ///< what it means
  std::string_view advice;   ///< what to do about it, or where to read on
};
/// Sorted by name.
[[nodiscard]] std::span<const Word* const> glossary();

}  // namespace foretrace::app
