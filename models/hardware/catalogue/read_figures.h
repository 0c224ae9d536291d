// Pieces of config files that several files share: words of a list, counts, ranges.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sim/core/config.h"
#include "sim/core/params.h"
#include "sim/core/ranged.h"

namespace foretrace {

/// The longest time that a config file may ask for: 11 days.
inline constexpr double longest_time_ns = 1e15;
/// The largest seed: every whole number up to it is one that a double holds.
inline constexpr double largest_seed = 1e15;

/// Position of the text among `words`; 0 (and a remembered mistake) if it is none of them.
[[nodiscard]] std::size_t read_word(ConfigFields& fields, std::string_view key,
                                    std::span<const std::string_view> words);
/// As read_word(); `standard` if the key is not there.
[[nodiscard]] std::size_t optional_word(ConfigFields& fields, std::string_view key,
                                        std::span<const std::string_view> words,
                                        std::size_t standard);
/// A whole number from 1 to `most`.
[[nodiscard]] std::uint32_t read_count(ConfigFields& fields, std::string_view key, double most);
/// As read_count(); `standard` if the key is not there.
[[nodiscard]] std::uint32_t optional_count(ConfigFields& fields, std::string_view key, double most,
                                           std::uint32_t standard);
/// From 0 to `most`.
[[nodiscard]] double read_within(ConfigFields& fields, std::string_view key, ParamType type,
                                 double most);
/// As read_within(); `standard` if the key is not there.
[[nodiscard]] double optional_within(ConfigFields& fields, std::string_view key, ParamType type,
                                     double most, double standard);
/// Above 0.
[[nodiscard]] double read_positive(ConfigFields& fields, std::string_view key, ParamType type,
                                   double most);
/// {"typical": 0.9, "low": 0.65, "high": 1}; without the key `out` keeps its value.
void read_ranged(ConfigFields& fields, std::string_view key, Ranged& out);
/// As read_ranged() for values with a unit.
void read_ranged(ConfigFields& fields, std::string_view key, ParamType type, Ranged& out);
}  // namespace foretrace
