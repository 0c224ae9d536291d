// Says what a file looks like that no reader reads: the other half of a good refusal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace foretrace::trace::formats {

/// One line such as "looks like an SQLite database (Nsight Systems export?)"; empty if it looks
/// like a trace or like nothing known.
[[nodiscard]] std::string describe_format(std::string_view prefix);

/// What the first bytes of a JSON text show of its outermost level.
struct JsonOutline {
  bool is_object = false;
  bool is_array = false;
  bool complete = false;           ///< the outermost value ends within the prefix
  std::vector<std::string> keys;   ///< of the object, or of the first object of the array
  char behind_brace = '\0';        ///< of the object: what begins its first key, or ends it
  std::string_view first_element;  ///< of the array, as far as it is there
  std::string_view behind;         ///< what follows a complete value
};
[[nodiscard]] JsonOutline outline_of(std::string_view prefix);
[[nodiscard]] bool has_key(const JsonOutline& outline, std::string_view key);

}  // namespace foretrace::trace::formats
