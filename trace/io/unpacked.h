// How much a file may unpack to where all of it is kept in memory.
#pragma once

#include <cstdint>

#include "sim/core/result.h"
#include "trace/io/byte_source.h"

namespace foretrace::trace {

/// Recordings unpack to 5 to 40 times their size; gzip can make a thousand times as much of zeros.
inline constexpr std::uint64_t most_unpacked_per_byte = 100;
/// What any file may unpack to, however small.
inline constexpr std::uint64_t always_unpacked = std::uint64_t{64} << 20U;

/// An error, with both sizes, once `bytes` are more than `always`, and more than `per_byte` for
/// each byte that the source took of its file so far.
[[nodiscard]] Status check_unpacked(const ByteSource& source, std::uint64_t bytes,
                                    std::uint64_t always = always_unpacked,
                                    std::uint64_t per_byte = most_unpacked_per_byte);

}  // namespace foretrace::trace
