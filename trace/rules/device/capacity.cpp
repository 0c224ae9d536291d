// A late start while a kernel of another stream ran across the whole wait: that kernel filled the
// device, and room came when its last blocks were placed.
#include <algorithm>
#include <cstdint>
#include <optional>

#include "sim/core/text.h"
#include "sim/graph/occupancy.h"
#include "trace/rules/assembly/constants.h"
#include "trace/rules/assembly/device_info.h"
#include "trace/rules/assembly/late_starts.h"
#include "trace/rules/assembly/rule.h"

namespace foretrace::trace::rules::capacity_parts {
namespace {

Work shape_of(const Assembly& a, const DeviceOp& op) {
  const Descriptor& arguments = a.events.descriptors[index(a.events.descriptor[index(op.event)])];
  Work work;
  work.grid = arguments.grid;
  work.block = arguments.block;
  work.registers_per_thread = arguments.registers_per_thread;
  work.shared_memory_bytes = arguments.shared_memory_bytes;
  return work;
}

/// When the resource model says the blocker has placed its last block; nullopt where it does not
/// fill the device or its grid is not recorded.
std::optional<double> predicted_fraction(const Assembly& a, const DeviceOp& blocker,
                                         const DeviceOp& waiter) {
  const std::int32_t id = a.streams[blocker.stream].device;
  for (const DeviceProperties& device : a.events.info.devices) {
    if (device.id == id) {
      const std::optional<double> fraction =
          fill_fraction(shape_of(a, blocker), shape_of(a, waiter), device_info(device));
      return fraction && *fraction > 0 ? fraction : std::nullopt;
    }
  }
  return std::nullopt;
}

/// Copies between places of one device run on its multiprocessors, others and sets hardly do.
bool takes_processors(const Assembly& a, const DeviceOp& op) {
  return op.kind == TaskKind::copy
             ? contains_any(a.events.name_of(op.event), {"DtoD", "DeviceToDevice"})
             : op.kind != TaskKind::set;
}

/// A kernel of another stream that ran across the whole wait and was still running. One that was
/// launched later counts if it began when the waiter was ready: what made both ready let it in
/// first, and does so in a changed run. One that had begun before is first by chance of timing.
std::optional<Source> find_filling(const LateStarts& starts, std::uint32_t i, std::int64_t ready) {
  const Assembly& a = starts.assembly;
  const DeviceOp& op = a.ops[i];
  std::uint32_t best = nothing;
  for (const std::uint32_t beside : starts.streams_beside(op)) {
    const Stream& stream = a.streams[beside];
    const auto after =
        std::partition_point(stream.ops.begin(), stream.ops.end(),
                             [&](std::uint32_t x) { return a.ops[x].start_ns < op.start_ns; });
    if (after == stream.ops.begin()) continue;
    const std::uint32_t candidate = *(after - 1);
    const DeviceOp& other = a.ops[candidate];
    const bool across =
        other.start_ns <= ready + std::max(late_start_ns, a.slack_ns) && other.end_ns > op.start_ns;
    const bool longer = best == nothing ||
                        other.end_ns - other.start_ns > a.ops[best].end_ns - a.ops[best].start_ns;
    if (across && longer && takes_processors(a, other) &&
        (starts.may_cause(other, op) ||
         (other.start_ns + source_tolerance_ns >= ready && starts.may_overtake(other, op)))) {
      best = candidate;
    }
  }
  if (best == nothing) return std::nullopt;
  const DeviceOp& other = a.ops[best];
  const double recorded = static_cast<double>(op.start_ns - other.start_ns) /
                          static_cast<double>(other.end_ns - other.start_ns);
  const double fraction =
      a.options.constant_latency ? predicted_fraction(a, other, op).value_or(recorded) : recorded;
  return Source{.op = i,
                .source_op = best,
                .origin = EdgeOrigin::capacity,
                .fraction = static_cast<float>(fraction)};
}

void explain_by_full_device(Assembly& assembly) { assembly.causes.push_back({find_filling}); }

}  // namespace

extern constexpr Rule info = {
    .name = "capacity",
    .doc = "late starts while a kernel of another stream filled the GPU: until its last blocks",
    .apply = explain_by_full_device};

}  // namespace foretrace::trace::rules::capacity_parts
