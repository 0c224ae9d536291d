// Small event tables written by hand: one call per event, times in ns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "trace/table/events.h"

namespace foretrace::trace {

/// When an event runs.
struct Interval {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

/// Builds an EventTable event by event.
class TraceSketch {
 public:
  TraceSketch() { table_.descriptors.push_back({}); }

  TrackId thread(std::int64_t number, std::int32_t rank = 0) {
    Track track;
    track.kind = Track::Kind::host_thread;
    track.rank = rank;
    track.process = 100;
    track.number = number;
    table_.tracks.push_back(track);
    return make_id<TrackId>(table_.tracks.size() - 1);
  }

  TrackId stream(std::int64_t number, std::int32_t rank = 0) {
    Track track;
    track.kind = Track::Kind::stream;
    track.rank = rank;
    track.device = 0;
    track.number = number;
    table_.tracks.push_back(track);
    return make_id<TrackId>(table_.tracks.size() - 1);
  }

  EventId add(EventKind kind, TrackId track, std::string_view name, Interval time) {
    table_.kind.push_back(kind);
    table_.name.push_back(table_.names.intern(name));
    table_.track.push_back(track);
    table_.start_ns.push_back(time.start_ns);
    table_.duration_ns.push_back(time.end_ns - time.start_ns);
    table_.correlation.push_back(0);
    table_.external_id.push_back(0);
    table_.descriptor.push_back({});
    return make_id<EventId>(table_.size() - 1);
  }
  EventId op(TrackId track, std::string_view name, Interval time) {
    return add(EventKind::cpu_op, track, name, time);
  }
  /// An operator that recorded the number of its thread's next autograd node.
  EventId numbered(TrackId track, std::string_view name, Interval time, std::int64_t number) {
    const EventId event = op(track, name, time);
    table_.sequence_numbers.push_back({event, number, 0});
    return event;
  }
  /// A backward operator: the number of its node and the thread that made it.
  EventId node(TrackId track, std::string_view name, Interval time, std::int64_t number) {
    const EventId event = op(track, name, time);
    table_.sequence_numbers.push_back({event, number, 1});
    return event;
  }
  /// A [memory] instant of device 0; `total` -1: not recorded, `address` 0: not recorded.
  void memory(TrackId track, std::int64_t time_ns, std::int64_t bytes, std::uint64_t address = 0,
              std::int64_t total = -1) {
    table_.memory.push_back({.time_ns = time_ns,
                             .track = track,
                             .device_type = 1,
                             .device = 0,
                             .bytes = bytes,
                             .address = address,
                             .total_allocated = total});
  }
  EventId annotation(TrackId track, std::string_view name, Interval time) {
    return add(EventKind::user_annotation, track, name, time);
  }
  EventId frame(TrackId track, std::string_view name, Interval time) {
    return add(EventKind::python_function, track, name, time);
  }
  EventId launch(TrackId track, std::int64_t start_ns, std::uint32_t correlation) {
    const EventId event =
        add(EventKind::runtime, track, "cudaLaunchKernel", {start_ns, start_ns + 1});
    table_.correlation.back() = correlation;
    return event;
  }
  EventId kernel(TrackId stream, std::string_view name, Interval time, std::uint32_t correlation) {
    const EventId event = add(EventKind::kernel, stream, name, time);
    table_.correlation.back() = correlation;
    return event;
  }
  EventId copy(TrackId stream, std::string_view name, Interval time, std::uint32_t correlation) {
    const EventId event = add(EventKind::copy, stream, name, time);
    table_.correlation.back() = correlation;
    return event;
  }
  void flow(std::int64_t id, TrackId track, std::int64_t time_ns, bool is_start) {
    table_.flows.push_back({id, time_ns, track, is_start});
  }

  [[nodiscard]] const EventTable& table() const { return table_; }
  [[nodiscard]] EventTable& table() { return table_; }

 private:
  EventTable table_;
};

}  // namespace foretrace::trace
