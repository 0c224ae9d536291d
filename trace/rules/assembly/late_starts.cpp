#include "trace/rules/assembly/late_starts.h"

#include <algorithm>
#include <numeric>

#include "trace/rules/assembly/constants.h"

namespace foretrace::trace::rules {

LateStarts::LateStarts(const Assembly& of) : assembly(of), by_end(of.ops.size()), looks_(of) {
  std::iota(by_end.begin(), by_end.end(), 0U);
  std::sort(by_end.begin(), by_end.end(), [&](std::uint32_t x, std::uint32_t y) {
    return of.ops[x].end_ns != of.ops[y].end_ns ? of.ops[x].end_ns < of.ops[y].end_ns : x < y;
  });
  for (std::uint32_t s = 0; s < of.streams.size(); ++s) {
    of_device_[of.streams[s].device].push_back(s);
  }
  for (const DeviceOp& op : of.ops) {
    if (op.kind == TaskKind::collective) {
      collectives_.push_back(op.position);
    }
  }
  std::sort(collectives_.begin(), collectives_.end());
}

bool LateStarts::may_overtake(const DeviceOp& other, const DeviceOp& op) const {
  if (other.stream == op.stream || other.call == nothing || other.position <= op.position ||
      other.start_ns + source_tolerance_ns >= op.start_ns ||
      assembly.streams[other.stream].device != assembly.streams[op.stream].device) {
    return false;
  }
  const auto next = std::upper_bound(collectives_.begin(), collectives_.end(), op.position);
  const bool passes_collective = next != collectives_.end() && *next <= other.position;
  return !passes_collective && !looks_.any(op.stream, op.position, other.position);
}

}  // namespace foretrace::trace::rules
