// Launches whose kernels were not recorded: a profiler's buffer was full, or it gave up in between.
// Calls that only add to a device graph under capture launch nothing.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <vector>

#include <fmt/format.h>

#include "sim/core/text.h"
#include "trace/annotate/flags.h"
#include "trace/rules/assembly/assembly.h"
#include "trace/rules/assembly/rule.h"

namespace foretrace::trace::rules::lost_kernels_parts {
namespace {

/// A few launches at the end of a window have their kernels behind it.
constexpr std::size_t most_by_chance = 10;
constexpr double noteworthy_share = 0.1;

enum class Call : std::uint8_t { other, launch, begin_capture, end_capture };

Call call_of(std::string_view name) {
  if (contains(name, "StreamBeginCapture")) return Call::begin_capture;
  if (contains(name, "StreamEndCapture")) return Call::end_capture;
  return contains(name, "LaunchKernel") ? Call::launch : Call::other;
}

/// (thread, start, event) of the calls that matter.
std::vector<std::tuple<TrackId, std::int64_t, std::size_t>> calls_of(const EventTable& events,
                                                                     std::vector<Call>& by_name) {
  std::vector<bool> known(events.names.size(), false);
  by_name.assign(events.names.size(), Call::other);
  std::vector<std::tuple<TrackId, std::int64_t, std::size_t>> calls;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events.kind[i] != EventKind::runtime) continue;
    const std::size_t name = index(events.name[i]);
    if (!known[name]) {
      by_name[name] = call_of(events.names[events.name[i]]);
      known[name] = true;
    }
    if (by_name[name] != Call::other) {
      calls.emplace_back(events.track[i], events.start_ns[i], i);
    }
  }
  std::sort(calls.begin(), calls.end());
  return calls;
}

/// Which launches have their work in the recording, and until when work was recorded: what a host
/// that runs ahead launches at last runs behind the window.
struct RecordedWork {
  std::unordered_set<std::size_t> launches;     // events
  std::map<TrackId, std::int64_t> last_launch;  // start, by thread
  std::int64_t end_ns = std::numeric_limits<std::int64_t>::min();

  explicit RecordedWork(const Assembly& assembly) {
    for (const HostCall& call : assembly.calls) {
      if (call.op_count > 0) {
        launches.insert(index(call.event));
        const TrackId track = assembly.events.track[index(call.event)];
        std::int64_t& last = last_launch.try_emplace(track, call.start_ns).first->second;
        last = std::max(last, call.start_ns);
      }
    }
    for (const DeviceOp& op : assembly.ops) {
      end_ns = std::max(end_ns, op.end_ns);
    }
  }
  [[nodiscard]] bool may_be_behind(TrackId track, std::int64_t start_ns) const {
    const auto last = last_launch.find(track);
    return start_ns <= end_ns && (last == last_launch.end() || start_ns > last->second);
  }
};

void count_lost(Assembly& assembly) {
  const EventTable& events = assembly.events;
  const RecordedWork work(assembly);
  std::vector<Call> by_name;
  std::size_t launches = 0;
  std::size_t lost = 0;
  bool captures = false;
  bool is_lost = false;  // the launch before: neither it nor one inside it has work
  std::int64_t until_ns = 0;
  TrackId thread = none<TrackId>;
  for (const auto& [track, start, event] : calls_of(events, by_name)) {
    const Call call = by_name[index(events.name[event])];
    const bool is_same_thread = track == thread;
    captures =
        call == Call::begin_capture || (captures && is_same_thread && call != Call::end_capture);
    thread = track;
    const bool has_work = work.launches.contains(event);
    if (call != Call::launch || captures || (!has_work && work.may_be_behind(track, start))) {
      continue;
    }
    if (is_same_thread && start < until_ns) {  // the driver's call inside the runtime's
      lost -= has_work && is_lost ? 1 : 0;
      is_lost = is_lost && !has_work;
      continue;
    }
    ++launches;
    is_lost = !has_work;
    lost += is_lost ? 1 : 0;
    until_ns = events.end_ns(make_id<EventId>(event));
  }
  if (lost <= most_by_chance ||
      static_cast<double>(lost) <= noteworthy_share * static_cast<double>(launches)) {
    return;
  }
  assembly.honesty.flags.push_back(
      work.launches.empty() ? fmt::format("none of {} {}", launches, flags::all_kernels_lost)
                            : fmt::format("{} of {} {}", lost, launches, flags::kernels_lost));
}

}  // namespace

extern constexpr Rule info = {
    .name = "lost_kernels",
    .doc =
        "counts launches whose kernels were not recorded, those under graph "
        "capture left out",
    .stage = Stage::collect,
    .apply = count_lost};

}  // namespace foretrace::trace::rules::lost_kernels_parts
