// Host work between calls: what a thread does from the end of one call to the begin of the next,
// without waiting for other threads.
#include <algorithm>
#include <cstdint>

#include "trace/rules/assembly/assembly.h"
#include "trace/rules/assembly/rule.h"

namespace foretrace::trace::rules::host_gaps_parts {
namespace {

void keep_host_gaps(Assembly& assembly) {
  for (const HostThread& thread : assembly.threads) {
    std::int64_t from = assembly.origin_ns;
    for (const std::uint32_t i : thread.calls) {
      HostCall& call = assembly.calls[i];
      if (call.kind != CallKind::thread_first) {
        call.segment_ns = std::max<std::int64_t>(0, call.start_ns - from - call.silent_ns);
      }
      from = call.end_ns;
    }
  }
}

}  // namespace

extern constexpr Rule info = {
    .name = "host_gaps",
    .doc = "time between the calls of a thread is CPU work; without the rule it is 0",
    .apply = keep_host_gaps};

}  // namespace foretrace::trace::rules::host_gaps_parts
