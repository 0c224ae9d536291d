// The page of `inspect`.
#pragma once

#include <optional>
#include <span>

#include "apps/questions/compare/late_rank.h"
#include "apps/report/section.h"
#include "apps/session/recording/inspect.h"

namespace foretrace::report {

/// What `inspect` was asked for besides; with none of them, everything in brief.
struct InspectQuestion {
  bool memory = false;
  bool modules = false;
  std::optional<LateRank> late{};  ///< of traces that are the ranks of one job
};
/// One trace, as `inspect` shows it.
struct InspectAnswer {
  const Inspection& found;
  const InspectQuestion& question;
};
/// Several of them, side by side.
struct TracesAnswer {
  std::span<const Inspection> traces;
  const InspectQuestion& question;
};
/// foretrace.inspect/1: one part per trace.
[[nodiscard]] Page inspect_page(std::span<const Inspection> traces,
                                const InspectQuestion& question);

}  // namespace foretrace::report
