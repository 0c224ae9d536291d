// Latencies and gaps that a trace shows of itself: medians over launches on an idle stream, over
// back-to-back operations, over calls.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "trace/rules/assembly.h"
#include "trace/rules/constants.h"

namespace foretrace::trace::rules {
namespace {

using Samples = std::vector<std::int64_t>;

/// Mean of the middle half: as robust as the median, and not rounded to the trace's resolution
/// (a thousand gaps of 1.4 us that are all recorded as 1 us would lose 0.4 ms).
std::int64_t typical(Samples& samples) {
  const std::size_t quarter = samples.size() / 4;
  std::sort(samples.begin(), samples.end());
  const auto from = samples.begin() + static_cast<std::ptrdiff_t>(quarter);
  const auto to = samples.end() - static_cast<std::ptrdiff_t>(quarter);
  return std::accumulate(from, to, std::int64_t{0}) / (to - from);
}

/// Typical value per name; names with too few samples get that of all, and without any `fallback`.
std::vector<std::int64_t> by_name_or_common(std::vector<Samples>& by_name, std::int64_t fallback) {
  Samples all;
  for (const Samples& samples : by_name) {
    all.insert(all.end(), samples.begin(), samples.end());
  }
  const std::int64_t common = all.empty() ? fallback : typical(all);
  std::vector<std::int64_t> result(by_name.size(), common);
  for (std::size_t i = 0; i < by_name.size(); ++i) {
    if (by_name[i].size() >= enough_samples) {
      result[i] = typical(by_name[i]);
    }
  }
  return result;
}

/// End of the operation before this one on its stream; far in the past if there is none.
std::int64_t previous_end(const Assembly& assembly, const DeviceOp& op) {
  return op.previous == nothing ? assembly.origin_ns - 1'000'000'000
                                : assembly.ops[op.previous].end_ns;
}

void measure_launches(Assembly& assembly) {
  const bool hip = assembly.events.info.is_hip;
  const std::int64_t cap = hip ? latency_cap_hip_ns : latency_cap_cuda_ns;
  const std::int64_t fallback = hip ? latency_default_hip_ns : latency_default_cuda_ns;
  const std::size_t names = assembly.events.names.size();
  std::vector<Samples> after_end(names);
  std::vector<Samples> after_start(names);
  std::vector<Samples> durations(names);
  for (const HostCall& call : assembly.calls) {
    if (is_mark(call.kind)) {
      continue;
    }
    if (call.op_count > 0) {
      durations[index(call.api)].push_back(call.end_ns - call.start_ns);
    }
    if (call.op_count == 0) {
      continue;
    }
    const DeviceOp& op = assembly.ops[call.first_op];
    if (previous_end(assembly, op) > call.start_ns) {
      continue;
    }
    const std::int64_t from_end = op.start_ns - call.end_ns;
    const std::int64_t from_start = op.start_ns - call.start_ns;
    const bool starts_inside =
        from_end < 0 || is_blocking(call.kind) || call.kind == CallKind::graph_launch;
    if (!starts_inside && from_end < cap) {
      after_end[index(call.api)].push_back(from_end);
    }
    if (starts_inside && from_start >= 0 && from_start < cap) {
      after_start[index(call.api)].push_back(from_start);
    }
  }
  assembly.medians.launch_ns = by_name_or_common(after_end, fallback);
  assembly.medians.start_anchor_ns = by_name_or_common(after_start, fallback);
  assembly.medians.duration_ns = by_name_or_common(durations, 0);
}

void measure_gaps(Assembly& assembly) {
  std::array<Samples, task_kind_count> by_kind;
  std::vector<Samples> by_copy(assembly.events.names.size());
  Samples all;
  for (const DeviceOp& op : assembly.ops) {
    if (op.previous == nothing || op.call == nothing) {
      continue;
    }
    const HostCall& call = assembly.calls[op.call];
    const std::int64_t tail_end = assembly.ops[op.previous].end_ns;
    const std::int64_t ready = call.end_ns + assembly.medians.launch_ns[index(call.api)];
    const std::int64_t gap = op.start_ns - tail_end;
    if (ready < tail_end && gap >= gap_floor_ns && gap < gap_cap_ns) {
      by_kind[static_cast<std::size_t>(op.kind)].push_back(gap);
      all.push_back(gap);
      if (op.kind == TaskKind::copy) {
        by_copy[index(assembly.events.name[index(op.event)])].push_back(gap);
      }
    }
  }
  const std::int64_t common = all.empty() ? 0 : typical(all);
  for (std::size_t kind = 0; kind < task_kind_count; ++kind) {
    assembly.medians.gap_ns[kind] =
        by_kind[kind].size() >= enough_samples ? typical(by_kind[kind]) : common;
  }
  assembly.medians.copy_gap_ns = by_name_or_common(by_copy, common);
  assembly.medians.event_lag_ns =
      assembly.medians.gap_ns[static_cast<std::size_t>(TaskKind::kernel)];
}

}  // namespace

void measure_medians(Assembly& assembly) {
  measure_launches(assembly);
  measure_gaps(assembly);
}

}  // namespace foretrace::trace::rules
