// One order of all ranks' rendezvous, and the sum of what their graphs do not explain.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trace/graph/built_graph.h"
#include "trace/ranks/job.h"
#include "trace/rules/assembly/assembly.h"

namespace foretrace::trace {

/// A kernel of a rank that takes part in rendezvous.
struct Arrival {
  std::vector<std::uint32_t> joins;  ///< the rank cannot go on before all of them are complete
  std::vector<std::uint32_t> announced{};
};

/// Rendezvous that cannot be kept because ranks reach them in orders that contradict each other.
/// `arrivals`: per rank, in program order; `members`: per rendezvous, ranks that take part. Leaving
/// these out, every rank can go through its list.
[[nodiscard]] std::vector<std::uint32_t> conflicting_joins(
    std::span<const std::vector<Arrival>> arrivals, std::span<const std::uint32_t> members);

/// Counts and times are added up; host and device times are the largest of a rank; flags say of
/// which rank they are.
[[nodiscard]] Honesty sum_honesty(std::span<const RankFacts> ranks, std::int64_t span_ns);

/// Union of what the rank's devices do, without waiting for other ranks.
[[nodiscard]] std::int64_t device_work_ns(const rules::Assembly& rank);

}  // namespace foretrace::trace
