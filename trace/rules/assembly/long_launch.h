// Launch calls that took much longer than their kind usually does.
#pragma once

#include <algorithm>
#include <cstdint>

#include "trace/rules/assembly/assembly.h"
#include "trace/rules/assembly/constants.h"

namespace foretrace::trace::rules {

[[nodiscard]] inline std::int64_t usual_duration(const Assembly& assembly, const HostCall& call) {
  return assembly.medians.duration_ns[index(call.api)];
}

/// A launch is long from here on.
[[nodiscard]] inline std::int64_t long_from(const Assembly& assembly, const HostCall& call) {
  return std::max(long_launch_factor * usual_duration(assembly, call), long_launch_ns);
}

/// A launch of one operation that took long. That of a graph is long by nature.
[[nodiscard]] inline bool is_long_launch(const Assembly& assembly, const HostCall& call) {
  return call.kind == CallKind::launch && call.op_count > 0 &&
         call.end_ns - call.start_ns > long_from(assembly, call);
}

}  // namespace foretrace::trace::rules
