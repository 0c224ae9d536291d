// Whether a recording has anything to simulate, and whether that is what its device did.
#pragma once

#include "sim/core/result.h"
#include "trace/rules/assembly/assembly.h"

namespace foretrace::trace::rules {

/// Errors: nothing to simulate; an accelerator whose events are not understood, so that a replay
/// would be one of nothing. To be asked when the rules have collected.
[[nodiscard]] Status check_work(const Assembly& assembly);

}  // namespace foretrace::trace::rules
