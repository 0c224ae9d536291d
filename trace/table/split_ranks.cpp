#include "trace/table/split_ranks.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>
#include <unordered_map>
#include <utility>

namespace foretrace::trace {
namespace {

std::vector<std::int32_t> ranks_of(const EventTable& events) {
  std::vector<bool> has_work(events.tracks.size(), false);
  for (std::size_t row = 0; row < events.size(); ++row) {
    if (events.is_device_event(make_id<EventId>(row))) {
      has_work[index(events.track[row])] = true;
    }
  }
  std::set<std::int32_t> ranks;
  for (std::size_t i = 0; i < has_work.size(); ++i) {
    if (has_work[i]) {
      ranks.insert(events.tracks[i].rank);
    }
  }
  return {ranks.begin(), ranks.end()};
}

constexpr std::uint32_t elsewhere = 0xFFFFFFFFU;

/// Copies what belongs to one rank out of a table.
class Part {
 public:
  Part(const EventTable& whole, const std::vector<std::int32_t>& ranks, std::size_t which)
      : whole_(whole), ranks_(ranks), which_(which), new_track_(whole.tracks.size(), elsewhere) {
    part_.info = whole.info;
    part_.info.rank = ranks[which];
    part_.info.world_size = std::max(whole.info.world_size, ranks.back() + 1);
    part_.names = whole.names;
    part_.descriptors = whole.descriptors;
  }

  EventTable take() {
    take_tracks();
    take_rows();
    take_side_tables();
    take_devices();
    make_relative();
    return std::move(part_);
  }

 private:
  [[nodiscard]] std::size_t owner(std::int32_t rank) const {
    const auto found = std::lower_bound(ranks_.begin(), ranks_.end(), rank);
    return found != ranks_.end() && *found == rank
               ? static_cast<std::size_t>(found - ranks_.begin())
               : 0;
  }
  void take_tracks() {
    for (std::size_t i = 0; i < whole_.tracks.size(); ++i) {
      if (owner(whole_.tracks[i].rank) == which_) {
        new_track_[i] = static_cast<std::uint32_t>(part_.tracks.size());
        part_.tracks.push_back(whole_.tracks[i]);
        part_.tracks.back().rank = part_.info.rank;
      }
    }
  }
  [[nodiscard]] std::uint32_t track(TrackId id) const { return new_track_[index(id)]; }

  void take_rows() {
    new_row_.assign(whole_.size(), elsewhere);
    for (std::size_t row = 0; row < whole_.size(); ++row) {
      const std::uint32_t to = track(whole_.track[row]);
      if (to == elsewhere) {
        continue;
      }
      new_row_[row] = static_cast<std::uint32_t>(part_.size());
      part_.kind.push_back(whole_.kind[row]);
      part_.name.push_back(whole_.name[row]);
      part_.track.push_back(TrackId{to});
      part_.start_ns.push_back(whole_.start_ns[row]);
      part_.duration_ns.push_back(whole_.duration_ns[row]);
      part_.correlation.push_back(whole_.correlation[row]);
      part_.external_id.push_back(whole_.external_id[row]);
      part_.descriptor.push_back(whole_.descriptor[row]);
      calls_.insert(whole_.correlation[row]);
    }
  }

  void take_side_tables() {
    // A record of synchronization names its call only.
    for (const SyncRecord& sync : whole_.syncs) {
      const bool has_call = sync.correlation > 0 && sync.correlation <= elsewhere;
      if (has_call && calls_.contains(static_cast<std::uint32_t>(sync.correlation))) {
        part_.syncs.push_back(sync);
      }
    }
    for (Flow flow : whole_.flows) {
      if (track(flow.track) != elsewhere) {
        flow.track = TrackId{track(flow.track)};
        part_.flows.push_back(flow);
      }
    }
    for (SequenceNumber number : whole_.sequence_numbers) {
      if (new_row_[index(number.event)] != elsewhere) {
        number.event = EventId{new_row_[index(number.event)]};
        part_.sequence_numbers.push_back(number);
      }
    }
    for (RecordFunction call : whole_.record_functions) {
      if (new_row_[index(call.event)] != elsewhere) {
        call.event = EventId{new_row_[index(call.event)]};
        part_.record_functions.push_back(call);
      }
    }
    for (MemoryEvent memory : whole_.memory) {
      if (track(memory.track) != elsewhere) {
        memory.track = TrackId{track(memory.track)};
        part_.memory.push_back(memory);
      }
    }
  }

  /// Those its streams are on; all, if none of these is listed.
  void take_devices() {
    std::vector<DeviceProperties> own;
    for (const DeviceProperties& device : whole_.info.devices) {
      const bool used = std::any_of(part_.tracks.begin(), part_.tracks.end(), [&](const Track& t) {
        return t.kind == Track::Kind::stream && t.device == device.id;
      });
      if (used) {
        own.push_back(device);
      }
    }
    if (!own.empty()) {
      part_.info.devices = std::move(own);
    }
    for (DeviceProperties& device : part_.info.devices) {
      device.rank = part_.info.rank;
    }
  }

  void make_relative() {
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    const auto note = [&](std::int64_t time) { first = std::min(first, time); };
    std::for_each(part_.start_ns.begin(), part_.start_ns.end(), note);
    for (const SyncRecord& sync : part_.syncs) note(sync.start_ns);
    for (const Flow& flow : part_.flows) note(flow.time_ns);
    for (const MemoryEvent& memory : part_.memory) note(memory.time_ns);
    if (first == std::numeric_limits<std::int64_t>::max()) {
      return;
    }
    part_.info.first_time_ns += first;
    for (std::int64_t& start : part_.start_ns) start -= first;
    for (SyncRecord& sync : part_.syncs) sync.start_ns -= first;
    for (Flow& flow : part_.flows) flow.time_ns -= first;
    for (MemoryEvent& memory : part_.memory) memory.time_ns -= first;
  }

  const EventTable& whole_;
  const std::vector<std::int32_t>& ranks_;
  std::size_t which_;
  EventTable part_;
  std::vector<std::uint32_t> new_track_;
  std::vector<std::uint32_t> new_row_;
  std::set<std::uint32_t> calls_;
};

}  // namespace

std::size_t rank_count(const EventTable& events) {
  return std::max<std::size_t>(1, ranks_of(events).size());
}

std::vector<EventTable> split_ranks(EventTable events) {
  const std::vector<std::int32_t> ranks = ranks_of(events);
  std::vector<EventTable> parts;
  if (ranks.size() < 2) {
    parts.push_back(std::move(events));
    return parts;
  }
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    parts.push_back(Part(events, ranks, i).take());
  }
  return parts;
}

}  // namespace foretrace::trace
