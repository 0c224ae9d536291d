#include "trace/rules/late_start.h"

#include <algorithm>
#include <numeric>

#include "sim/graph/occupancy.h"
#include "trace/rules/constants.h"
#include "trace/rules/device_info.h"

namespace foretrace::trace::rules {
namespace {

/// Operations that ended at about the same time are looked through no further than this.
constexpr int most_candidates = 256;

}  // namespace

CauseFinder::CauseFinder(const Assembly& assembly) : a_(assembly), by_end_(assembly.ops.size()) {
  std::iota(by_end_.begin(), by_end_.end(), 0U);
  std::sort(by_end_.begin(), by_end_.end(), [&](std::uint32_t x, std::uint32_t y) {
    return a_.ops[x].end_ns != a_.ops[y].end_ns ? a_.ops[x].end_ns < a_.ops[y].end_ns : x < y;
  });
}

std::optional<Source> CauseFinder::find(std::uint32_t op, std::int64_t ready_ns) const {
  std::optional<Source> source;
  if (a_.options.rules.inference) {
    source = find_ended(op, ready_ns);
  }
  if (!source && a_.options.rules.capacity) {
    source = find_filling(op, ready_ns);
  }
  return source;
}

/// The latest operation of another stream that ended just before the start.
std::optional<Source> CauseFinder::find_ended(std::uint32_t i, std::int64_t ready) const {
  const DeviceOp& op = a_.ops[i];
  const std::int64_t latest = op.start_ns + source_tolerance_ns;
  const std::int64_t earliest = std::max(op.start_ns - cause_before_ns, ready);
  auto at = std::partition_point(by_end_.begin(), by_end_.end(),
                                 [&](std::uint32_t x) { return a_.ops[x].end_ns <= latest; });
  for (int tried = 0; at != by_end_.begin() && tried < most_candidates; ++tried) {
    const DeviceOp& other = a_.ops[*--at];
    if (other.end_ns < earliest) {
      return std::nullopt;
    }
    if (may_cause(other, op)) {
      return Source{.op = i,
                    .source_op = *at,
                    .origin = EdgeOrigin::inferred,
                    .lag_ns = op.start_ns - other.end_ns};
    }
  }
  return std::nullopt;
}

/// A kernel of another stream that ran across the whole wait and was still running.
std::optional<Source> CauseFinder::find_filling(std::uint32_t i, std::int64_t ready) const {
  const DeviceOp& op = a_.ops[i];
  std::uint32_t best = nothing;
  for (const Stream& stream : a_.streams) {
    const auto after =
        std::partition_point(stream.ops.begin(), stream.ops.end(),
                             [&](std::uint32_t x) { return a_.ops[x].start_ns < op.start_ns; });
    if (after == stream.ops.begin()) {
      continue;
    }
    const std::uint32_t candidate = *(after - 1);
    const DeviceOp& other = a_.ops[candidate];
    const bool across = other.start_ns <= ready + std::max(late_start_ns, a_.slack_ns) &&
                        other.end_ns > op.start_ns;
    const bool longer = best == nothing ||
                        other.end_ns - other.start_ns > a_.ops[best].end_ns - a_.ops[best].start_ns;
    if (across && longer && other.kind != TaskKind::copy && other.kind != TaskKind::set &&
        may_cause(other, op)) {
      best = candidate;
    }
  }
  if (best == nothing) {
    return std::nullopt;
  }
  const DeviceOp& other = a_.ops[best];
  const double recorded = static_cast<double>(op.start_ns - other.start_ns) /
                          static_cast<double>(other.end_ns - other.start_ns);
  const double fraction =
      a_.options.constant_latency ? predicted_fraction(other, op).value_or(recorded) : recorded;
  return Source{.op = i,
                .source_op = best,
                .origin = EdgeOrigin::capacity,
                .fraction = static_cast<float>(fraction)};
}

/// When the resource model says the blocker has placed its last block; nullopt where it does not
/// fill the device or its grid is not recorded.
std::optional<double> CauseFinder::predicted_fraction(const DeviceOp& blocker,
                                                      const DeviceOp& waiter) const {
  const std::int32_t id = a_.streams[blocker.stream].device;
  for (const DeviceProperties& device : a_.events.info.devices) {
    if (device.id == id) {
      const std::optional<double> fraction =
          fill_fraction(shape_of(blocker), shape_of(waiter), device_info(device));
      return fraction && *fraction > 0 ? fraction : std::nullopt;
    }
  }
  return std::nullopt;
}

Work CauseFinder::shape_of(const DeviceOp& op) const {
  const Descriptor& arguments = a_.events.descriptors[index(a_.events.descriptor[index(op.event)])];
  Work work;
  work.grid = arguments.grid;
  work.block = arguments.block;
  work.registers_per_thread = arguments.registers_per_thread;
  work.shared_memory_bytes = arguments.shared_memory_bytes;
  return work;
}

/// Another stream of the same device, placed earlier in program order.
bool CauseFinder::may_cause(const DeviceOp& other, const DeviceOp& op) const {
  return other.stream != op.stream && other.position < op.position &&
         a_.streams[other.stream].device == a_.streams[op.stream].device;
}

}  // namespace foretrace::trace::rules
