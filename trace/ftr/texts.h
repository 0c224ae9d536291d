// Texts of .ftr files: numbered names, and pairs of key and value.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace foretrace::trace::ftr {

using Pairs = std::vector<std::pair<std::string, std::string>>;

/// A payload of names: `texts` are numbered from `first` on.
[[nodiscard]] std::string put_names(std::uint64_t first, std::span<const std::string_view> texts,
                                    int level);
/// Calls `name` with the number of each; false if the payload is damaged (nothing was called).
/// No number is `limit` or more.
[[nodiscard]] bool take_names(std::string_view payload, std::uint64_t limit,
                              const std::function<void(std::uint64_t, std::string_view)>& name);

[[nodiscard]] std::string put_pairs(const Pairs& pairs);
/// False if the payload is damaged.
[[nodiscard]] bool take_pairs(std::string_view payload, Pairs& pairs);

/// The value of the first pair with this key; empty if there is none.
[[nodiscard]] std::string_view value_of(const Pairs& pairs, std::string_view key);
/// The same as a number; `otherwise` if there is none.
[[nodiscard]] std::int64_t number_of(const Pairs& pairs, std::string_view key,
                                     std::int64_t otherwise);

}  // namespace foretrace::trace::ftr
