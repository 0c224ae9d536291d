// A device whose clock is behind the host's: its work would begin before it is launched. What
// cannot be is taken out: its times move until launches come first.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/core/statistics.h"
#include "trace/rules/assembly/assembly.h"
#include "trace/rules/assembly/constants.h"
#include "trace/rules/assembly/rule.h"

namespace foretrace::trace::rules::device_clock_parts {
namespace {

void move_device(Assembly& assembly) {
  std::vector<std::int64_t> latencies;
  std::size_t early = 0;
  for (const DeviceOp& op : assembly.ops) {
    if (op.call != nothing) {
      latencies.push_back(op.start_ns - assembly.calls[op.call].start_ns);
      early += latencies.back() < -assembly.slack_ns ? 1 : 0;
    }
  }
  if (latencies.size() < fewest_clock_launches) {
    return;
  }
  const std::size_t launched = latencies.size();
  const std::int64_t lowest = percentile(std::move(latencies), 1);
  if (lowest >= -assembly.slack_ns) {
    return;
  }
  const std::int64_t shift = usual_start_ns - lowest;
  for (DeviceOp& op : assembly.ops) {
    op.start_ns += shift;
    op.end_ns += shift;
  }
  assembly.honesty.flags.push_back(
      fmt::format("device clock behind the host's: {} of {} operations began before their launch, "
                  "moved by {} us",
                  early, launched, shift / 1000));
}

constexpr Rule info = {.name = "device_clock",
                       .doc =
                           "device times that lie before their launches move by what is "
                           "missing: the clocks differ",
                       .stage = Stage::collect,
                       .apply = move_device};

}  // namespace
}  // namespace foretrace::trace::rules::device_clock_parts

namespace foretrace::trace::rules {
extern const Rule device_clock;
constinit const Rule device_clock = device_clock_parts::info;
}  // namespace foretrace::trace::rules
