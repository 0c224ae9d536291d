// The profiler's own work on the threads of the graph: it lengthens the calls that it falls into.
// It is part of the recorded times and stays in them; a launch that is long because of it is
// explained.
#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/core/text.h"
#include "trace/rules/assembly/assembly.h"
#include "trace/rules/assembly/rule.h"

namespace foretrace::trace::rules::profiler_overhead_parts {
namespace {

using Intervals = std::vector<std::pair<std::int64_t, std::int64_t>>;  // start, end

/// Some overheads are those of the driver, which the program has without a profiler too.
bool is_of_program(std::string_view name) {
  return contains_any(name, {"Command Buffer Full", "Module Loading", "Function Loading",
                             "Driver Compiler", "JIT"});
}

/// Sorted, overlapping ones joined.
Intervals joined(Intervals list) {
  std::sort(list.begin(), list.end());
  Intervals result;
  for (const auto& [from, to] : list) {
    if (!result.empty() && from <= result.back().second) {
      result.back().second = std::max(result.back().second, to);
    } else {
      result.emplace_back(from, to);
    }
  }
  return result;
}

std::int64_t overlap(const Intervals& list, std::int64_t from, std::int64_t to) {
  auto at = std::partition_point(list.begin(), list.end(),
                                 [&](const auto& row) { return row.second <= from; });
  std::int64_t sum = 0;
  for (; at != list.end() && at->first < to; ++at) {
    sum += std::min(at->second, to) - std::max(at->first, from);
  }
  return sum;
}

/// Per thread of the graph. Overheads lie on its track, or on one of their own that names it.
std::vector<Intervals> overheads_of(const Assembly& assembly) {
  const EventTable& events = assembly.events;
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> threads;  // process, number
  std::vector<std::uint32_t> thread_of_track = assembly.thread_of_track();
  for (std::size_t i = 0; i < assembly.threads.size(); ++i) {
    const Track& track = events.tracks[index(assembly.threads[i].track)];
    threads.emplace(std::pair(track.process, track.number), static_cast<std::uint32_t>(i));
  }
  for (std::size_t i = 0; i < events.tracks.size(); ++i) {
    const auto found = threads.find({events.tracks[i].process, events.tracks[i].number});
    if (events.tracks[i].kind == Track::Kind::other && found != threads.end()) {
      thread_of_track[i] = found->second;
    }
  }
  std::vector<Intervals> lists(assembly.threads.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    const auto event = make_id<EventId>(i);
    const std::uint32_t thread = thread_of_track[index(events.track[i])];
    if (events.kind[i] == EventKind::overhead && thread != nothing &&
        !is_of_program(events.name_of(event))) {
      lists[thread].emplace_back(events.start_ns[i], events.end_ns(event));
    }
  }
  for (Intervals& list : lists) {
    list = joined(std::move(list));
  }
  return lists;
}

void find_overheads(Assembly& assembly) {
  const std::vector<Intervals> overheads = overheads_of(assembly);
  for (std::size_t i = 0; i < assembly.threads.size(); ++i) {
    if (overheads[i].empty()) continue;
    const HostThread& thread = assembly.threads[i];
    assembly.honesty.profiler_ns += overlap(overheads[i], thread.first_ns, thread.last_ns);
    for (const std::uint32_t c : thread.calls) {
      HostCall& call = assembly.calls[c];
      call.profiler_ns = overlap(overheads[i], call.start_ns, call.end_ns);
    }
  }
}

}  // namespace

extern constexpr Rule info = {.name = "profiler_overhead",
                              .doc = "profiler overhead inside calls, which makes them long",
                              .apply = find_overheads};

}  // namespace foretrace::trace::rules::profiler_overhead_parts
