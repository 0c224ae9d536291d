// Steps where nothing marks them: equal passes of the program.
#pragma once

#include <string>
#include <vector>

#include "trace/annotate/annotate.h"

namespace foretrace::trace {

struct RepeatedPasses {
  std::vector<StepWindow> steps;  ///< numbered from 1 on; empty: none were found
  std::string note;               ///< how they were found: "5 equal passes, found by ..."
};

/// Passes that launch the same work in the same order, or lie in ranges of one name, one after the
/// other; they hold nearly all that the device does. Each meets the device (it synchronizes, or
/// copies from or to the host), or each runs an optimizer: equal layers of one pass do not.
[[nodiscard]] RepeatedPasses find_repeated_passes(const EventTable& events);

}  // namespace foretrace::trace
