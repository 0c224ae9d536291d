// Texts through deflate, and checksums: ISA-L where the build found it, zlib elsewhere.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace foretrace::trace::ftr {

/// What deflated text may grow to: this much, and this many times its size. Names of real
/// recordings grow ten times; deflate itself can make a thousand times as much.
inline constexpr std::uint64_t largest_ratio = 100;
inline constexpr std::uint64_t always_inflated = 4096;

/// Raw deflate. `level` as zlib has it, 1 to 9.
[[nodiscard]] std::string deflated(std::string_view plain, int level);
/// Exactly `size` bytes and read_slack zeros behind them; empty if the text is damaged or its size
/// differs.
[[nodiscard]] std::optional<std::string> inflated(std::string_view packed, std::uint64_t size);

/// CRC-32 as gzip has it.
[[nodiscard]] std::uint32_t checksum(std::string_view bytes);

}  // namespace foretrace::trace::ftr
