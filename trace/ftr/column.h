// Columns of integers in few bits: blocks of 128 values, each as offsets from its least value or as
// differences from the value before, whichever needs fewer bits.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace foretrace::trace::ftr {

inline constexpr std::size_t block_values = 128;

/// Appends the column to `out`. Unsigned 64-bit values are given as the same bits, signed.
void put_column(std::string& out, std::span<const std::int64_t> values);

/// Fills `out` with as many values as it has room for; `bytes` must be exactly one column of that
/// many, and read_slack bytes behind it must be readable. Values that T cannot hold lose their high
/// bits. False if the bytes are no such column; `out` is then partly filled.
template <typename T>
[[nodiscard]] bool take_column(std::string_view bytes, std::span<T> out);

extern template bool take_column(std::string_view, std::span<std::uint8_t>);
extern template bool take_column(std::string_view, std::span<std::uint32_t>);
extern template bool take_column(std::string_view, std::span<std::int64_t>);

}  // namespace foretrace::trace::ftr
