// Reference times for the reactions, from recorded events alone and not from the graph: how long
// the host would take without waiting, and how long the device was busy.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/annotate/flags.h"
#include "trace/rules/assembly/assembly.h"
#include "trace/rules/assembly/constants.h"
#include "trace/rules/assembly/rule.h"

namespace foretrace::trace::rules::reference_times_parts {
namespace {

using Intervals = std::vector<std::pair<std::int64_t, std::int64_t>>;

std::int64_t union_length(Intervals& intervals) {
  std::sort(intervals.begin(), intervals.end());
  std::int64_t sum = 0;
  std::int64_t reached = std::numeric_limits<std::int64_t>::min();
  for (const auto& [from, to] : intervals) {
    if (to > reached) {
      sum += to - std::max(from, reached);
      reached = to;
    }
  }
  return sum;
}

/// What a blocking copy costs its thread beside the copy and without waiting, from its own record:
/// from when it could begin to when it did, and from its end to the return of the call.
std::int64_t copy_overhead(const Assembly& assembly, const HostCall& call) {
  const DeviceOp& op = assembly.ops[call.first_op];
  std::int64_t could_begin =
      std::max(call.start_ns, op.previous == nothing ? 0 : assembly.ops[op.previous].end_ns);
  for (const Source& source : assembly.sources_of(call.first_op)) {
    could_begin = std::max(could_begin, assembly.end_of_source(source));
  }
  return std::max<std::int64_t>(0, op.start_ns - could_begin) +
         std::max<std::int64_t>(0, call.end_ns - op.end_ns);
}

void flag_share_of_span(Honesty& honesty, std::int64_t time, std::string_view what) {
  if (honesty.span_ns > 0 &&
      static_cast<double>(time) > flag_share * static_cast<double>(honesty.span_ns)) {
    honesty.flags.emplace_back(what);
  }
}

/// Several streams, and not one wait between them: such calls were not recorded, or were cut out.
bool misses_waits(const Assembly& assembly) {
  return assembly.streams.size() > 1 && assembly.events.syncs.empty() &&
         std::none_of(assembly.calls.begin(), assembly.calls.end(), [](const HostCall& call) {
           return call.kind == CallKind::stream_wait || call.kind == CallKind::event_record;
         });
}

/// What most likely stands behind device work that starts late: a cause that the trace shows, else
/// one that it cannot show, else another program.
std::string_view reason_of_late_work(const Assembly& assembly) {
  if (flags::any_has(assembly.honesty.flags, flags::first_use)) return "late device work";
  return misses_waits(assembly) ? flags::missing_records : "shared device";
}

void set_flags(Assembly& assembly) {
  Honesty& honesty = assembly.honesty;
  flag_share_of_span(honesty, honesty.initial_backlog_ns, "initial backlog");
  flag_share_of_span(honesty, honesty.first_use_ns, flags::first_use);
  flag_share_of_span(honesty, honesty.unexplained_device_ns, reason_of_late_work(assembly));
}

void measure_references(Assembly& assembly) {
  Intervals busy;
  std::int64_t last = assembly.begin_ns;
  for (const DeviceOp& op : assembly.ops) {
    busy.emplace_back(op.start_ns, op.end_ns);
    last = std::max(last, op.end_ns);
  }
  assembly.honesty.device_busy_ns = union_length(busy);

  std::int64_t host_last = assembly.begin_ns;
  for (const HostThread& thread : assembly.threads) {
    host_last = std::max(host_last, thread.last_ns);
  }
  Intervals blocked;
  std::int64_t own = 0;
  for (const HostCall& call : assembly.calls) {
    if (is_mark(call.kind)) continue;
    const std::int64_t recorded = call.end_ns - call.start_ns;
    std::int64_t cost = call.own_ns;
    if (call.kind == CallKind::blocking_copy) {
      cost = std::min(recorded, copy_overhead(assembly, call));
    }
    if (cost < recorded) {
      blocked.emplace_back(call.start_ns, call.end_ns);
      own += cost;
    }
  }
  assembly.honesty.host_only_ns = host_last - assembly.begin_ns - union_length(blocked) + own;
  assembly.honesty.span_ns = std::max(last, host_last) - assembly.begin_ns;
  set_flags(assembly);
}

}  // namespace

extern constexpr Rule info = {
    .name = "reference_times",
    .doc = "references of the checks: CPU time without waiting, GPU busy time, the span",
    .required = true,
    .apply = measure_references};

}  // namespace foretrace::trace::rules::reference_times_parts
