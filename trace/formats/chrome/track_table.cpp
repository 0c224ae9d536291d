#include "trace/formats/chrome/track_table.h"

#include <algorithm>

#include "sim/core/integers.h"
#include "trace/formats/common/hash.h"
#include "trace/formats/json/number.h"
#include "trace/io/text.h"

namespace foretrace::trace::formats {
namespace {

constexpr std::string_view stream_prefix = "stream ";

// A number (quoted or not: "12" and 12 are the same) or, of a text, its hash.
std::int64_t recorded_id(std::string_view token) {
  if (const auto number = integer_from(token)) return *number;
  const std::string_view text = without_quotes(token);
  return text.empty() ? 0 : static_cast<std::int64_t>(hash_bytes(text, 0) >> 1U);
}
std::int64_t recorded_id(const Number& number) {
  return number.plain && number.thousandths == 0 ? number.whole : recorded_id(number.token());
}

// "stream 7" (before 2022) and 7 are the same stream.
std::int64_t recorded_stream(const Number& number) {
  const std::string_view text = without_quotes(number.token());
  return text.starts_with(stream_prefix) ? recorded_id(text.substr(stream_prefix.size()))
                                         : recorded_id(number);
}

NameId interned(NameTable& names, std::string_view text) {
  return names.intern(is_valid_utf8(text) ? std::string(text) : with_valid_utf8(text));
}

}  // namespace

std::size_t TrackTable::KeyHash::operator()(const Key& key) const {
  return fold_product(static_cast<std::uint64_t>(key.process) ^ 0xA0761D6478BD642FULL,
                      static_cast<std::uint64_t>(key.thread) ^
                          (static_cast<std::uint64_t>(key.kind) << 60U) ^ 0xE7037ED1A0B428DBULL);
}

TrackId TrackTable::remember(Recent recent) {
  recent_[next_recent_] = recent;
  next_recent_ = (next_recent_ + 1) % recent_.size();
  return recent.track;
}

TrackId TrackTable::thread(Track::Kind kind, const EventFields& event) {
  const Key key{kind, recorded_id(event[NumberField::process]),
                recorded_id(event[NumberField::thread])};
  for (const Recent& entry : recent_) {
    if (entry.first == key.process && entry.second == key.thread && entry.kind == kind &&
        entry.track != none<TrackId>) {
      return entry.track;
    }
  }
  return remember({kind, key.process, key.thread, find_or_add(key, event)});
}

TrackId TrackTable::stream(const EventFields& event) {
  constexpr auto kind = Track::Kind::stream;
  const bool recorded =
      event[NumberField::device].present() && event[NumberField::stream].present();
  const std::int64_t device =
      recorded_id(recorded ? event[NumberField::device] : event[NumberField::process]);
  const std::int64_t stream =
      recorded_stream(recorded ? event[NumberField::stream] : event[NumberField::thread]);
  for (const Recent& entry : recent_) {
    if (entry.first == device && entry.second == stream && entry.kind == kind &&
        entry.track != none<TrackId>) {
      return entry.track;
    }
  }
  return remember({kind, device, stream, find_or_add({kind, device, stream}, event)});
}

TrackId TrackTable::find_or_add(const Key& key, const EventFields& event) {
  const auto next = make_id<TrackId>(table_.tracks.size());
  const auto [found, added] = tracks_.try_emplace(key, next);
  if (!added) return found->second;
  Track track;
  track.kind = key.kind;
  track.number = key.thread;
  if (key.kind == Track::Kind::stream) {
    track.device = clamped_int32(key.process, -1);
  } else {
    track.process = integer_from(event[NumberField::process]).value_or(0);
  }
  track.process_text = interned(table_.names, without_quotes(event[NumberField::process].token()));
  track.number_text = interned(table_.names, without_quotes(event[NumberField::thread].token()));
  table_.tracks.push_back(track);
  recorded_.push_back(Key{Track::Kind::other, recorded_id(event[NumberField::process]),
                          recorded_id(event[NumberField::thread])});
  return next;
}

void TrackTable::name_thread(const EventFields& event, NameId name) {
  names_[Key{Track::Kind::other, recorded_id(event[NumberField::process]),
             recorded_id(event[NumberField::thread])}] = name;
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

}  // namespace foretrace::trace::formats
