// Fills an EventTable from rows of numbers, for the formats that are not JSON of Chrome events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/table/events.h"
#include "trace/table/import_report.h"

namespace foretrace::trace::formats {

/// Where a row stands in the file, for messages: "CUPTI_ACTIVITY_KIND_KERNEL row 12", or a byte.
struct RowPlace {
  std::string_view table;
  std::uint64_t number = 0;
  std::uint64_t offset = 0;
};

/// One event. Ids of launches count within their scope, which is a process.
struct EventRow {
  EventKind kind = EventKind::other;
  NameId name{};
  TrackId track{};
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t scope = 0;
  std::int64_t correlation = 0;  ///< 0: none
  DescriptorId descriptor{};
};

class RowBuilder {
 public:
  RowBuilder(EventTable& table, ImportReport& report);

  /// The track of these numbers; adds it if it is new.
  TrackId thread(std::int64_t process, std::int64_t number) {
    return track({Track::Kind::host_thread, process, -1, number});
  }
  TrackId stream(std::int64_t process, std::int64_t device, std::int64_t number);
  TrackId other(std::int64_t process, std::int64_t number) {
    return track({Track::Kind::other, process, -1, number});
  }
  void name_track(TrackId track, std::string_view name);
  /// The id of a text; bytes that are no UTF-8 are replaced and counted.
  NameId intern(std::string_view text, RowPlace place);
  /// The id of these arguments; adds them if they are new.
  DescriptorId intern(const Descriptor& descriptor);

  /// Adds an event, or counts why it cannot be one. True if it was added.
  bool add(const EventRow& row, RowPlace place);
  /// Adds a synchronization record; its correlations count within the scope.
  void add(const SyncRecord& sync, std::int64_t scope, RowPlace place);
  void add(const MemoryEvent& memory, RowPlace place);
  /// The number that a forward operator and its backward operators share, for the event added last.
  void add_sequence_number(std::int64_t number, std::int64_t forward_thread);
  void drop(std::string_view reason, RowPlace place) { count(DamageKind::dropped, reason, place); }
  void repair(std::string_view reason, RowPlace place) {
    count(DamageKind::repaired, reason, place);
  }
  /// Counts a row that was looked at and belongs to no event.
  void skip() { ++report_.events; }

  /// Processes with device work, in order; each of them may be a rank.
  [[nodiscard]] std::vector<std::int64_t> device_processes() const;
  /// Makes times relative and correlations unique over all scopes. Call once.
  void finish();

 private:
  using TrackKey = std::tuple<Track::Kind, std::int64_t, std::int32_t, std::int64_t>;
  struct ScopedId {
    std::int64_t scope = 0;
    std::int64_t id = 0;
    bool operator==(const ScopedId&) const = default;
    bool operator<(const ScopedId& other) const {
      return std::tie(scope, id) < std::tie(other.scope, other.id);
    }
  };

  TrackId track(const TrackKey& key);
  void count(DamageKind kind, std::string_view reason, RowPlace place);
  bool take_times(std::int64_t start, std::int64_t end, RowPlace place);
  void finish_correlations();

  EventTable& table_;
  ImportReport& report_;
  std::map<TrackKey, TrackId> tracks_;
  TrackKey recent_key_;
  TrackId recent_ = none<TrackId>;
  std::unordered_multimap<std::uint64_t, DescriptorId> descriptors_;
  std::vector<ScopedId> correlations_;     // per row
  std::vector<std::int64_t> sync_scopes_;  // per sync record
  std::int64_t first_time_ = std::numeric_limits<std::int64_t>::max();
};

}  // namespace foretrace::trace::formats
