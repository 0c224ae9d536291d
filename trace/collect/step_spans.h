// Where the steps of a recording of single steps lie.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "trace/collect/recording.h"

namespace foretrace::trace::collector {

/// A step from its mark to the next one. Times as recorded, in ns.
struct StepSpan {
  const RangeRecord* mark = nullptr;
  std::int64_t end = 0;
};

struct StepSpans {
  std::vector<StepSpan> spans;  ///< in the order of time
  /// What begins later belongs to steps that were not asked for.
  std::int64_t over = std::numeric_limits<std::int64_t>::max();
  /// Ends of device work from here on are not to be trusted.
  std::int64_t off = std::numeric_limits<std::int64_t>::max();
};

/// No spans and no limits for a recording without marks of steps. `recording` must outlive the
/// result.
[[nodiscard]] StepSpans step_spans_of(const Recording& recording);

}  // namespace foretrace::trace::collector
