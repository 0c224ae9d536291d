// Launch-queue back-pressure: a CUDA stream holds 1,021 entries ahead of the executing one; the
// launch call of entry k returns when entry k-1021 starts. The wait is not the call's own work.
#include <algorithm>
#include <cstdint>

#include "trace/rules/assembly/assembly.h"
#include "trace/rules/assembly/constants.h"
#include "trace/rules/assembly/long_launch.h"
#include "trace/rules/assembly/rule.h"

namespace foretrace::trace::rules::queue_depth_parts {
namespace {

/// Entries of a stream that have not ended at a time, counted over what was placed before `op`.
std::uint64_t outstanding(const Assembly& assembly, const DeviceOp& op, std::int64_t time) {
  const auto& list = assembly.streams[op.stream].ops;
  const auto placed = std::partition_point(list.begin(), list.end(), [&](std::uint32_t i) {
    return assembly.ops[i].position < op.position;
  });
  const auto ended = std::partition_point(
      list.begin(), placed, [&](std::uint32_t i) { return assembly.ops[i].end_ns <= time; });
  return static_cast<std::uint64_t>(placed - ended);
}

void limit_queues(Assembly& assembly) {
  if (assembly.events.info.is_hip) return;
  for (Stream& stream : assembly.streams) {
    stream.queue_depth = cuda_queue_depth;
  }
  for (HostCall& call : assembly.calls) {
    const bool is_explained = call.own_ns < call.end_ns - call.start_ns;
    if (!is_explained && is_long_launch(assembly, call) &&
        outstanding(assembly, assembly.ops[call.first_op], call.start_ns) >= queue_nearly_full) {
      call.own_ns = usual_duration(assembly, call);
    }
  }
}

}  // namespace

extern constexpr Rule info = {.name = "queue_depth",
                              .doc =
                                  "launches that were blocked on a full queue: a CUDA stream "
                                  "queues 1,021 behind the executing one",
                              .apply = limit_queues};

}  // namespace foretrace::trace::rules::queue_depth_parts
