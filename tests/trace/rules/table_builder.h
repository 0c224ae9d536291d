// Writes small event tables by hand for tests of the dependency rules. Times in microseconds.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "trace/table/events.h"

namespace foretrace::trace {

class TableBuilder {
 public:
  TableBuilder() {
    table_.info.format = "test";
    table_.info.path = "test";
    table_.descriptors.emplace_back();
  }

  TrackId thread(std::int64_t number) {
    return track(Track{.kind = Track::Kind::host_thread, .process = 1, .number = number}, number);
  }
  TrackId stream(std::int64_t number) {
    return track(Track{.kind = Track::Kind::stream, .device = 0, .number = number}, 1000 + number);
  }

  EventId event(EventKind kind, std::string_view name, TrackId on, double start_us,
                double duration_us) {
    table_.kind.push_back(kind);
    table_.name.push_back(table_.names.intern(name));
    table_.track.push_back(on);
    table_.start_ns.push_back(ns(start_us));
    table_.duration_ns.push_back(ns(duration_us));
    table_.correlation.push_back(0);
    table_.external_id.push_back(0);
    table_.descriptor.push_back(DescriptorId{0});
    return make_id<EventId>(table_.size() - 1);
  }

  EventId op(TrackId on, std::string_view name, double start_us, double duration_us) {
    return event(EventKind::cpu_op, name, on, start_us, duration_us);
  }
  /// A runtime call; gets a correlation of its own.
  EventId call(TrackId on, std::string_view name, double start_us, double duration_us) {
    const EventId id = event(EventKind::runtime, name, on, start_us, duration_us);
    table_.correlation[index(id)] = ++correlation_;
    return id;
  }
  /// Device work launched by a call.
  EventId work(EventId call_id, TrackId on, double start_us, double duration_us,
               std::string_view name = "kernel", EventKind kind = EventKind::kernel) {
    const EventId id = event(kind, name, on, start_us, duration_us);
    table_.correlation[index(id)] = table_.correlation[index(call_id)];
    return id;
  }
  /// Device work without a launch in the window.
  EventId orphan(TrackId on, double start_us, double duration_us) {
    return event(EventKind::kernel, "kernel", on, start_us, duration_us);
  }
  void bytes(EventId id, std::int64_t count) {
    Descriptor descriptor;
    descriptor.bytes = count;
    table_.descriptors.push_back(descriptor);
    table_.descriptor[index(id)] = make_id<DescriptorId>(table_.descriptors.size() - 1);
  }
  void sync_record(SyncRecord record) { table_.syncs.push_back(record); }
  [[nodiscard]] std::uint32_t correlation(EventId id) const {
    return table_.correlation[index(id)];
  }

  EventTable& table() { return table_; }
  static std::int64_t ns(double us) { return std::llround(us * 1000.0); }

 private:
  TrackId track(const Track& row, std::int64_t key) {
    const auto found = tracks_.find(key);
    if (found != tracks_.end()) {
      return found->second;
    }
    table_.tracks.push_back(row);
    return tracks_[key] = make_id<TrackId>(table_.tracks.size() - 1);
  }

  EventTable table_;
  std::map<std::int64_t, TrackId> tracks_;
  std::uint32_t correlation_ = 0;
};

}  // namespace foretrace::trace
