// Counts what full queues explain of long launches, and what nothing explains.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "trace/rules/assembly/assembly.h"
#include "trace/rules/assembly/long_launch.h"
#include "trace/rules/assembly/rule.h"

namespace foretrace::trace::rules::long_launches_parts {
namespace {

void count_long_launches(Assembly& assembly) {
  Honesty& honesty = assembly.honesty;
  std::vector<bool> seen_kernel(assembly.events.names.size(), false);
  for (const HostCall& call : assembly.calls) {
    if (is_mark(call.kind) || is_blocking(call.kind) || call.op_count == 0) continue;
    const DeviceOp& op = assembly.ops[call.first_op];
    const std::size_t kernel = index(assembly.events.name[index(op.event)]);
    const bool first_use = !seen_kernel[kernel];
    seen_kernel[kernel] = true;
    if (!is_long_launch(assembly, call)) continue;
    const std::int64_t recorded = call.end_ns - call.start_ns;
    if (call.own_ns < recorded) {
      honesty.queue_blocked_ns += recorded - call.own_ns;
      ++honesty.queue_blocked_count;
    }
    const std::int64_t own = call.own_ns - std::min(call.own_ns, call.profiler_ns);
    if (own > long_from(assembly, call)) {
      (first_use ? honesty.first_use_ns : honesty.unexplained_launch_ns) +=
          own - usual_duration(assembly, call);
      honesty.unexplained_launch_count += first_use ? 0 : 1;
    }
  }
}

}  // namespace

extern constexpr Rule info = {
    .name = "long_launches",
    .doc = "counts launches that took long: blocked on a queue, first use of a kernel, unexplained",
    .required = true,
    .apply = count_long_launches};

}  // namespace foretrace::trace::rules::long_launches_parts
