#include "trace/readers/detail/track_table.h"

#include <algorithm>
#include <limits>

#include "trace/readers/detail/hash.h"
#include "trace/readers/detail/number.h"
#include "trace/readers/detail/text.h"

namespace foretrace::trace::detail {
namespace {

constexpr std::string_view stream_prefix = "stream ";

// "stream 7" (before 2022) and 7 are the same stream.
RecordedId recorded_stream(std::string_view token) {
  RecordedId id = recorded_id(token);
  if (!id.is_number && id.text.starts_with(stream_prefix)) {
    const RecordedId number = recorded_id(id.text.substr(stream_prefix.size()));
    if (number.is_number) {
      id.number = number.number;
      id.is_number = true;
    }
  }
  return id;
}

std::int32_t clamped_device(std::int64_t number) {
  return static_cast<std::int32_t>(
      std::clamp<std::int64_t>(number, -1, std::numeric_limits<std::int32_t>::max()));
}

NameId interned(NameTable& names, std::string_view text) {
  return names.intern(is_valid_utf8(text) ? std::string(text) : with_valid_utf8(text));
}

}  // namespace

RecordedId recorded_id(std::string_view token) {
  RecordedId id;
  id.text = without_quotes(token);
  if (const auto number = integer_from(token)) {
    id.number = *number;
    id.is_number = true;
  } else if (!id.text.empty()) {
    id.number = static_cast<std::int64_t>(hash_bytes(id.text, 0) >> 1U);
  }
  return id;
}

std::size_t TrackTable::KeyHash::operator()(const Key& key) const {
  return fold_product(static_cast<std::uint64_t>(key.process) ^ 0xA0761D6478BD642FULL,
                      static_cast<std::uint64_t>(key.thread) ^
                          (static_cast<std::uint64_t>(key.kind) << 60U) ^ 0xE7037ED1A0B428DBULL);
}

const TrackId* TrackTable::recent(Track::Kind kind, std::string_view a, std::string_view b) {
  const auto found = std::find_if(recent_.begin(), recent_.end(), [&](const Recent& entry) {
    return entry.kind == kind && entry.second == b && entry.first == a;
  });
  return found == recent_.end() || table_.tracks.empty() ? nullptr : &found->track;
}

TrackId TrackTable::remember(Track::Kind kind, std::string_view a, std::string_view b,
                             TrackId track) {
  recent_[next_recent_] = Recent{kind, std::string(a), std::string(b), track};
  next_recent_ = (next_recent_ + 1) % recent_.size();
  return track;
}

TrackId TrackTable::thread(Track::Kind kind, std::string_view process, std::string_view thread) {
  if (const TrackId* known = recent(kind, process, thread)) {
    return *known;
  }
  const Key key{kind, recorded_id(process).number, recorded_id(thread).number};
  return remember(kind, process, thread, find_or_add(key, process, thread));
}

TrackId TrackTable::stream(const StreamKey& key) {
  constexpr auto kind = Track::Kind::stream;
  const bool recorded = !key.device.empty() && !key.stream.empty();
  const std::string_view device = recorded ? key.device : key.process;
  const std::string_view stream = recorded ? key.stream : key.thread;
  if (const TrackId* known = recent(kind, device, stream)) {
    return *known;
  }
  const Key found{kind, recorded_id(device).number, recorded_stream(stream).number};
  return remember(kind, device, stream, find_or_add(found, key.process, key.thread));
}

TrackId TrackTable::find_or_add(const Key& key, std::string_view process, std::string_view thread) {
  const auto next = make_id<TrackId>(table_.tracks.size());
  const auto [found, added] = tracks_.try_emplace(key, next);
  if (!added) {
    return found->second;
  }
  const RecordedId process_id = recorded_id(process);
  const RecordedId thread_id = recorded_id(thread);
  Track track;
  track.kind = key.kind;
  track.number = key.thread;
  if (key.kind == Track::Kind::stream) {
    track.device = clamped_device(key.process);
  } else {
    track.process = process_id.is_number ? process_id.number : 0;
  }
  track.process_text = interned(table_.names, process_id.text);
  track.number_text = interned(table_.names, thread_id.text);
  table_.tracks.push_back(track);
  recorded_.push_back(Key{Track::Kind::other, process_id.number, thread_id.number});
  return next;
}

void TrackTable::name_thread(std::string_view process, std::string_view thread, NameId name) {
  const Key key{Track::Kind::other, recorded_id(process).number, recorded_id(thread).number};
  names_[key] = name;
}

void TrackTable::finish(std::int32_t rank) {
  for (std::size_t i = 0; i < table_.tracks.size(); ++i) {
    table_.tracks[i].rank = std::max(rank, 0);
    const auto name = names_.find(recorded_[i]);
    if (name != names_.end()) {
      table_.tracks[i].name = name->second;
    }
  }
}

}  // namespace foretrace::trace::detail
