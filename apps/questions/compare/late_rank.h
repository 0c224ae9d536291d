// Which rank of a job the others wait for.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "apps/questions/compare/communication.h"
#include "apps/session/recording/inspect.h"
#include "apps/session/recording/load.h"
#include "apps/session/session.h"

namespace foretrace {

/// The rank that the others wait for.
struct LateRank {
  std::int32_t rank = 0;
  std::int64_t late_ns = 0;  ///< per step: its delays after the median arrival of the others
  double share = 0;          ///< of the step
  std::uint64_t arrives_last = 0;
  std::uint64_t collectives = 0;  ///< in how many some rank arrives last
};
/// Nothing where no rank is later than all others together, or later than recorded steps scatter.
[[nodiscard]] std::optional<LateRank> late_rank_of(const Session& session,
                                                   const Communication& communication);
/// The same of traces of which each has a rank of its own; nothing where they are no such job.
[[nodiscard]] std::optional<LateRank> late_rank_of(std::span<const std::string> inputs,
                                                   std::span<const Inspection> traces,
                                                   const LoadOptions& options);

}  // namespace foretrace
