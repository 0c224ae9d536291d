// What the name of a trace tells: its rank, and which other files belong to its job.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace foretrace::trace {

/// The rank that a file's name tells: after "rank", else after "worker", else its last number.
/// Digits of hashes do not count.
[[nodiscard]] std::optional<std::int32_t> rank_of_name(std::string_view path);
/// True if the name says "rank" or "worker" before it.
[[nodiscard]] bool names_rank(std::string_view path);

/// The name with its rank replaced by '#', and by '*' what else differs from rank to rank (hashes,
/// and processes and times where they make up the name): files of one job share it.
[[nodiscard]] std::string pattern_of_name(std::string_view path);

}  // namespace foretrace::trace
