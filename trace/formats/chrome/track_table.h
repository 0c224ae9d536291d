// Finds or adds the track of an event from what the file says about process and thread.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/formats/chrome/event_fields.h"
#include "trace/table/events.h"

namespace foretrace::trace::formats {

class TrackTable {
 public:
  explicit TrackTable(EventTable& table) : table_(table) {}

  /// The track of a host thread, or of anything else that is neither thread nor stream.
  TrackId thread(Track::Kind kind, const EventFields& event);
  /// The track of a stream, from the arguments where they have it, else from process and thread.
  TrackId stream(const EventFields& event);
  /// Notes the name of the thread of an event; tracks get it in finish().
  void name_thread(const EventFields& event, NameId name);
  /// Gives every track its rank and its name.
  void finish(std::int32_t rank);

 private:
  struct Key {
    Track::Kind kind = Track::Kind::other;
    std::int64_t process = 0;
    std::int64_t thread = 0;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };
  /// Numbers of the events before: most events are on the track of one of them.
  struct Recent {
    Track::Kind kind = Track::Kind::other;
    std::int64_t first = 0;
    std::int64_t second = 0;
    TrackId track = none<TrackId>;
  };
  TrackId find_or_add(const Key& key, const EventFields& event);
  TrackId remember(Recent recent);

  EventTable& table_;
  std::unordered_map<Key, TrackId, KeyHash> tracks_;
  std::unordered_map<Key, NameId, KeyHash> names_;
  std::vector<Key> recorded_;  // per track: process and thread as recorded
  std::array<Recent, 8> recent_;
  std::size_t next_recent_ = 0;
};

}  // namespace foretrace::trace::formats
