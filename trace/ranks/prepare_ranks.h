// The ranks of a job between their events and their tasks: rules applied, collectives matched, one
// time axis for all.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "sim/core/result.h"
#include "trace/annotate/annotate.h"
#include "trace/ranks/job.h"
#include "trace/rules/assembly/assembly.h"

namespace foretrace::trace {

struct PreparedRank {
  PreparedRank(const EventTable& events, const BuildOptions& options)
      : annotation(annotate(events)),
        assembly{.events = events, .annotation = annotation, .options = options} {}

  Annotation annotation;
  rules::Assembly assembly;
};

struct PreparedJob {
  std::vector<std::unique_ptr<PreparedRank>> ranks;
  std::vector<RankCollectives> collectives;  ///< per rank
  JobMatching matching;
  /// Collectives that ranks reach in orders that contradict each other: no rendezvous.
  std::size_t conflicts = 0;
};

/// Runs the rules on every rank, several at a time. Moves the device times of ranks by
/// align_device_clock. Errors: a rank with nothing to simulate, or too much for memory.
[[nodiscard]] Result<PreparedJob> prepare_ranks(std::span<RankTrace> ranks,
                                                const BuildOptions& options);

}  // namespace foretrace::trace
