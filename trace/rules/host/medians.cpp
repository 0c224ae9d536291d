// Latencies and gaps that a trace shows of itself: medians over launches on an idle stream, over
// back-to-back operations, over calls.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/core/statistics.h"
#include "trace/rules/assembly/assembly.h"
#include "trace/rules/assembly/constants.h"
#include "trace/rules/assembly/rule.h"

namespace foretrace::trace::rules {
namespace {

std::uint32_t gap_class(const Assembly& assembly, const DeviceOp& op) {
  return assembly.medians.gap_class[index(assembly.events.name[index(op.event)])];
}

}  // namespace

std::int64_t typical_gap(const Assembly& assembly, const DeviceOp& op) {
  if (op.previous == nothing) return 0;
  const DeviceOp& previous = assembly.ops[op.previous];
  return assembly.medians.gap_ns[gap_class(assembly, previous) * assembly.medians.gap_classes +
                                 gap_class(assembly, op)];
}

}  // namespace foretrace::trace::rules

namespace foretrace::trace::rules::medians_parts {
namespace {

/// Typical is the mean of their middle half: a thousand gaps of 1.4 us that are all recorded as 1
/// us would lose 0.4 ms with a median.
using Samples = std::vector<std::int64_t>;

/// Typical value per name; names with too few samples get that of all, and without any `fallback`.
std::vector<std::int64_t> by_name_or_common(const std::vector<Samples>& by_name,
                                            std::int64_t fallback) {
  Samples all;
  for (const Samples& samples : by_name) {
    all.insert(all.end(), samples.begin(), samples.end());
  }
  const std::int64_t common = mean_of_middle_half(std::move(all), fallback);
  std::vector<std::int64_t> result(by_name.size(), common);
  for (std::size_t i = 0; i < by_name.size(); ++i) {
    if (by_name[i].size() >= enough_samples) {
      result[i] = mean_of_middle_half(by_name[i]);
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
    if (call.op_count == 0) continue;
    durations[index(call.api)].push_back(call.end_ns - call.start_ns);
    const DeviceOp& op = assembly.ops[call.first_op];
    if (previous_end(assembly, op) > call.start_ns) continue;
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

/// A class for every kind of operation, copies by direction (which their names tell).
void number_gap_classes(Assembly& assembly) {
  Medians& medians = assembly.medians;
  medians.gap_class.assign(assembly.events.names.size(), nothing);
  medians.gap_classes = task_kind_count;
  for (const DeviceOp& op : assembly.ops) {
    std::uint32_t& number = medians.gap_class[index(assembly.events.name[index(op.event)])];
    if (number == nothing) {
      number =
          op.kind == TaskKind::copy ? medians.gap_classes++ : static_cast<std::uint32_t>(op.kind);
    }
  }
}

void measure_gaps(Assembly& assembly) {
  number_gap_classes(assembly);
  const std::size_t classes = assembly.medians.gap_classes;
  std::vector<Samples> by_pair(classes * classes);
  std::vector<Samples> by_own(classes);
  Samples all;
  for (const DeviceOp& op : assembly.ops) {
    if (op.previous == nothing || op.call == nothing) continue;
    const HostCall& call = assembly.calls[op.call];
    const DeviceOp& previous = assembly.ops[op.previous];
    const std::int64_t ready = call.end_ns + assembly.medians.launch_ns[index(call.api)];
    const std::int64_t gap = op.start_ns - previous.end_ns;
    if (ready < previous.end_ns && gap >= gap_floor_ns && gap < gap_cap_ns) {
      by_pair[gap_class(assembly, previous) * classes + gap_class(assembly, op)].push_back(gap);
      by_own[gap_class(assembly, op)].push_back(gap);
      all.push_back(gap);
    }
  }
  const std::int64_t common = mean_of_middle_half(std::move(all));
  assembly.medians.gap_ns.resize(classes * classes);
  for (std::size_t own = 0; own < classes; ++own) {
    const std::int64_t own_gap =
        by_own[own].size() >= enough_samples ? mean_of_middle_half(by_own[own]) : common;
    for (std::size_t previous = 0; previous < classes; ++previous) {
      const Samples& samples = by_pair[previous * classes + own];
      assembly.medians.gap_ns[previous * classes + own] =
          samples.size() >= enough_samples ? mean_of_middle_half(samples) : own_gap;
    }
  }
  assembly.medians.event_lag_ns = common;
}

void measure_medians(Assembly& assembly) {
  measure_launches(assembly);
  measure_gaps(assembly);
}

}  // namespace

extern constexpr Rule info = {
    .name = "medians",
    .doc = "medians of the recording: launch latencies, gaps between operations, call durations",
    .required = true,
    .apply = measure_medians};

}  // namespace foretrace::trace::rules::medians_parts
