// Launch-queue back-pressure: a CUDA stream holds 1,021 entries ahead of the executing one; the
// launch call of entry k returns when entry k-1021 starts. The wait is not the call's own work.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "trace/rules/assembly.h"
#include "trace/rules/constants.h"

namespace foretrace::trace::rules {
namespace {

/// "Command Buffer Full" intervals by start: Kineto's direct evidence of back-pressure.
struct Overheads {
  std::vector<std::pair<std::int64_t, std::int64_t>> full;   // start, end
  std::vector<std::pair<std::int64_t, std::int64_t>> other;  // the profiler's own work

  [[nodiscard]] static std::int64_t overlap(
      const std::vector<std::pair<std::int64_t, std::int64_t>>& list, std::int64_t from,
      std::int64_t to) {
    auto at = std::partition_point(list.begin(), list.end(),
                                   [&](const auto& row) { return row.second <= from; });
    std::int64_t sum = 0;
    for (; at != list.end() && at->first < to; ++at) {
      sum += std::max<std::int64_t>(0, std::min(at->second, to) - std::max(at->first, from));
    }
    return sum;
  }
};

Overheads collect_overheads(const EventTable& events) {
  Overheads result;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events.kind[i] != EventKind::overhead) {
      continue;
    }
    const auto event = make_id<EventId>(i);
    auto& list = events.name_of(event) == "Command Buffer Full" ? result.full : result.other;
    list.emplace_back(events.start_ns[i], events.end_ns(event));
  }
  std::sort(result.full.begin(), result.full.end());
  std::sort(result.other.begin(), result.other.end());
  return result;
}

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

}  // namespace

void queue_depth(Assembly& assembly) {
  const bool limited = !assembly.events.info.is_hip && assembly.options.rules.queue_depth;
  const Overheads overheads =
      assembly.options.rules.overhead_events ? collect_overheads(assembly.events) : Overheads{};
  std::vector<bool> seen_kernel(assembly.events.names.size(), false);
  for (HostCall& call : assembly.calls) {
    if (is_mark(call.kind) || is_blocking(call.kind)) {
      continue;
    }
    const std::int64_t recorded = call.end_ns - call.start_ns;
    call.own_ns = recorded;
    if (call.op_count == 0) {
      continue;
    }
    const DeviceOp& op = assembly.ops[call.first_op];
    const bool first_use = !seen_kernel[index(assembly.events.name[index(op.event)])];
    seen_kernel[index(assembly.events.name[index(op.event)])] = true;
    const std::int64_t typical = assembly.medians.duration_ns[index(call.api)];
    const std::int64_t limit = std::max(long_launch_factor * typical, long_launch_ns);
    if (recorded <= limit || call.kind == CallKind::graph_launch) {
      continue;
    }
    const std::int64_t full = Overheads::overlap(overheads.full, call.start_ns, call.end_ns);
    if (limited && full > 0) {
      call.own_ns = std::max(recorded - full, std::min(typical, recorded));
    } else if (limited && outstanding(assembly, op, call.start_ns) >= queue_nearly_full) {
      call.own_ns = typical;
    }
    if (call.own_ns < recorded) {
      assembly.honesty.queue_blocked_ns += recorded - call.own_ns;
      ++assembly.honesty.queue_blocked_count;
    }
    if (call.own_ns > limit) {
      (first_use ? assembly.honesty.first_use_ns : assembly.honesty.unexplained_launch_ns) +=
          call.own_ns - typical;
      assembly.honesty.unexplained_launch_count += first_use ? 0 : 1;
    }
  }
}

}  // namespace foretrace::trace::rules
