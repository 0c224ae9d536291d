// Words of Honesty::flags that others look for. A flag may hold more: counts, or the rank it is of.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace foretrace::trace::flags {

inline constexpr std::string_view first_use = "first use";
inline constexpr std::string_view missing_records = "missing records";
/// Behind "20 of 60" and "none of 60".
inline constexpr std::string_view kernels_lost = "launches have no kernel record";
inline constexpr std::string_view all_kernels_lost = "launches has a kernel record";

[[nodiscard]] inline bool has_words(std::string_view flag, std::string_view words) {
  return flag.find(words) != std::string_view::npos;
}
[[nodiscard]] inline bool any_has(const std::vector<std::string>& flags, std::string_view words) {
  return std::any_of(flags.begin(), flags.end(),
                     [&](const std::string& flag) { return has_words(flag, words); });
}

}  // namespace foretrace::trace::flags
