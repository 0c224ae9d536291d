// Stalls: silences of a host thread that the same place of other ranks does not have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trace/rules/assembly/assembly.h"

namespace foretrace::trace {

struct RankStall {
  std::size_t rank = 0;        ///< position in the job
  std::uint32_t position = 0;  ///< in the rank's program order: the call behind the silence
  std::int64_t duration_ns = 0;
  std::int64_t excess_ns = 0;  ///< over the median of the same place on the other ranks
};

/// Compares the longest single silence before like-numbered calls: same role of thread, step
/// counted from the end, call, operator around it and occurrence. Keeps what exceeds the others'
/// median by more than 1 ms and threefold. Silences in which a thread waits for another one do not
/// count.
[[nodiscard]] std::vector<RankStall> find_stalls(std::span<const rules::Assembly* const> ranks);

}  // namespace foretrace::trace
