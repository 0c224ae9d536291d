// Finds or adds the track of an event from what the file says about process and thread.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/events.h"

namespace foretrace::trace::detail {

/// A process or thread id as written: a number (quoted or not: "12" and 12 are the same) or a text.
struct RecordedId {
  std::int64_t number = 0;  ///< of a text: its hash
  bool is_number = false;
  std::string_view text;  ///< without quotes
};
[[nodiscard]] RecordedId recorded_id(std::string_view token);

class TrackTable {
 public:
  explicit TrackTable(EventTable& table) : table_(table) {}

  /// The track of a host thread, or of anything else that is neither thread nor stream.
  TrackId thread(Track::Kind kind, std::string_view process, std::string_view thread);
  /// The track of a stream from the arguments where they have it, else from process and thread.
  struct StreamKey {
    std::string_view device, stream;   ///< argument tokens; empty: absent
    std::string_view process, thread;  ///< tokens
  };
  TrackId stream(const StreamKey& key);
  /// Notes the name of a thread; tracks get it in finish().
  void name_thread(std::string_view process, std::string_view thread, NameId name);
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
  struct Recent {
    Track::Kind kind = Track::Kind::other;
    std::string first, second;  // tokens
    TrackId track{};
  };
  TrackId find_or_add(const Key& key, std::string_view process, std::string_view thread);
  [[nodiscard]] const TrackId* recent(Track::Kind kind, std::string_view a, std::string_view b);
  TrackId remember(Track::Kind kind, std::string_view a, std::string_view b, TrackId track);

  EventTable& table_;
  std::unordered_map<Key, TrackId, KeyHash> tracks_;
  std::unordered_map<Key, NameId, KeyHash> names_;
  std::vector<Key> recorded_;  // per track: process and thread as recorded
  std::array<Recent, 8> recent_;
  std::size_t next_recent_ = 0;
};

}  // namespace foretrace::trace::detail
