#include "trace/table/split_ranks.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <utility>
#include <vector>

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

/// Indices of rows by the part that each belongs to.
class ByPart {
 public:
  template <typename Rows, typename PartOf>
  ByPart(const Rows& rows, std::size_t parts, const PartOf& part_of) : begins_(parts + 1, 0) {
    for (const auto& row : rows) {
      ++begins_[part_of(row) + 1];
    }
    std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
    rows_.resize(rows.size());
    std::vector<std::size_t> next(begins_.begin(), begins_.end() - 1);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      rows_[next[part_of(rows[i])]++] = static_cast<std::uint32_t>(i);
    }
  }
  [[nodiscard]] std::span<const std::uint32_t> operator[](std::size_t part) const {
    return std::span(rows_).subspan(begins_[part], begins_[part + 1] - begins_[part]);
  }

 private:
  std::vector<std::size_t> begins_;
  std::vector<std::uint32_t> rows_;
};

/// New numbers for the ids that a part uses, in the order of the old ones.
class Renumbered {
 public:
  explicit Renumbered(std::size_t size) : new_(size, elsewhere) {}
  void use(std::size_t id) {
    if (new_[id] == elsewhere) {
      new_[id] = 0;
      used_.push_back(static_cast<std::uint32_t>(id));
    }
  }
  /// Calls `take` with each id in use; its number is how many were taken before.
  template <typename Take>
  void number(const Take& take) {
    std::sort(used_.begin(), used_.end());
    for (std::size_t i = 0; i < used_.size(); ++i) {
      new_[used_[i]] = static_cast<std::uint32_t>(i);
      take(used_[i]);
    }
  }
  [[nodiscard]] std::uint32_t operator[](std::size_t id) const { return new_[id]; }
  /// Forgets what was used, and looks at nothing else.
  void clear() {
    for (const std::uint32_t id : used_) {
      new_[id] = elsewhere;
    }
    used_.clear();
  }

 private:
  std::vector<std::uint32_t> new_;
  std::vector<std::uint32_t> used_;
};

/// Copies what belongs to each rank out of a table. A part costs what is in it, whatever else the
/// table holds: a recording may have thousands of processes.
class Splitter {
 public:
  Splitter(const EventTable& whole, const std::vector<std::int32_t>& ranks)
      : whole_(whole),
        ranks_(ranks),
        tracks_(whole.tracks, ranks.size(), [this](const Track& t) { return owner(t.rank); }),
        rows_(whole.track, ranks.size(), [this](TrackId t) { return owner_of_track(t); }),
        syncs_(parts_of_syncs()),
        flows_(whole.flows, ranks.size(),
               [this](const Flow& f) { return owner_of_track(f.track); }),
        numbers_(whole.sequence_numbers, ranks.size(),
                 [this](const SequenceNumber& n) { return owner_of_event(n.event); }),
        calls_(whole.record_functions, ranks.size(),
               [this](const RecordFunction& c) { return owner_of_event(c.event); }),
        memory_(whole.memory, ranks.size(),
                [this](const MemoryEvent& m) { return owner_of_track(m.track); }),
        new_name_(whole.names.size()),
        new_descriptor_(whole.descriptors.size()),
        new_track_(whole.tracks.size(), elsewhere),
        new_row_(whole.size(), elsewhere),
        info_(whole.info) {
    info_.devices.clear();
    for (std::size_t i = 0; i < whole.info.devices.size(); ++i) {
      devices_.emplace(whole.info.devices[i].id, i);
    }
  }

  EventTable part(std::size_t which) {
    EventTable part;
    part.info = info_of(which);
    take_names(which, part);
    take_tracks(which, part);
    take_rows(which, part);
    take_side_tables(which, part);
    take_devices(part);
    make_relative(part);
    new_name_.clear();
    new_descriptor_.clear();
    return part;
  }

 private:
  [[nodiscard]] std::size_t owner(std::int32_t rank) const {
    const auto found = std::lower_bound(ranks_.begin(), ranks_.end(), rank);
    return found != ranks_.end() && *found == rank
               ? static_cast<std::size_t>(found - ranks_.begin())
               : 0;
  }
  [[nodiscard]] std::size_t owner_of_track(TrackId id) const {
    return owner(whole_.tracks[index(id)].rank);
  }
  [[nodiscard]] std::size_t owner_of_event(EventId id) const {
    return owner_of_track(whole_.track[index(id)]);
  }

  /// A record of synchronization names its call only: it goes to every part that has such a call.
  [[nodiscard]] std::vector<std::vector<std::uint32_t>> parts_of_syncs() const {
    std::vector<std::vector<std::uint32_t>> parts(ranks_.size());
    if (whole_.syncs.empty()) return parts;
    std::vector<std::pair<std::uint32_t, std::size_t>> calls;
    for (std::size_t row = 0; row < whole_.size(); ++row) {
      calls.emplace_back(whole_.correlation[row], owner_of_track(whole_.track[row]));
    }
    std::sort(calls.begin(), calls.end());
    calls.erase(std::unique(calls.begin(), calls.end()), calls.end());
    for (std::size_t i = 0; i < whole_.syncs.size(); ++i) {
      const std::int64_t correlation = whole_.syncs[i].correlation;
      if (correlation <= 0 || correlation > elsewhere) continue;
      const auto key = static_cast<std::uint32_t>(correlation);
      for (auto at = std::lower_bound(calls.begin(), calls.end(), std::pair(key, std::size_t{0}));
           at != calls.end() && at->first == key; ++at) {
        parts[at->second].push_back(static_cast<std::uint32_t>(i));
      }
    }
    return parts;
  }

  [[nodiscard]] TraceInfo info_of(std::size_t which) const {
    TraceInfo info = info_;
    info.rank = ranks_[which];
    info.world_size = std::max(whole_.info.world_size, ranks_.back() + 1);
    return info;
  }

  void take_names(std::size_t which, EventTable& part) {
    new_name_.use(0);
    new_descriptor_.use(0);  // no arguments
    for (const std::uint32_t row : rows_[which]) {
      new_name_.use(index(whole_.name[row]));
      new_descriptor_.use(index(whole_.descriptor[row]));
    }
    for (const std::uint32_t i : tracks_[which]) {
      const Track& track = whole_.tracks[i];
      for (const NameId name : {track.process_text, track.number_text, track.name}) {
        new_name_.use(index(name));
      }
    }
    new_descriptor_.number([&](std::uint32_t id) {
      const Descriptor& descriptor = whole_.descriptors[id];
      part.descriptors.push_back(descriptor);
      for (const NameId name :
           {descriptor.dims, descriptor.types, descriptor.concrete, descriptor.text}) {
        new_name_.use(index(name));
      }
    });
    new_name_.number([&](std::uint32_t id) { part.names.intern(whole_.names[NameId{id}]); });
    for (Descriptor& descriptor : part.descriptors) {
      for (NameId* const name :
           {&descriptor.dims, &descriptor.types, &descriptor.concrete, &descriptor.text}) {
        *name = named(*name);
      }
    }
  }
  [[nodiscard]] NameId named(NameId old) const { return NameId{new_name_[index(old)]}; }

  void take_tracks(std::size_t which, EventTable& part) {
    for (const std::uint32_t i : tracks_[which]) {
      new_track_[i] = static_cast<std::uint32_t>(part.tracks.size());
      Track track = whole_.tracks[i];
      track.rank = part.info.rank;
      track.process_text = named(track.process_text);
      track.number_text = named(track.number_text);
      track.name = named(track.name);
      part.tracks.push_back(track);
    }
  }
  [[nodiscard]] TrackId track(TrackId id) const { return TrackId{new_track_[index(id)]}; }

  void take_rows(std::size_t which, EventTable& part) {
    for (const std::uint32_t row : rows_[which]) {
      new_row_[row] = static_cast<std::uint32_t>(part.size());
      part.kind.push_back(whole_.kind[row]);
      part.name.push_back(named(whole_.name[row]));
      part.track.push_back(track(whole_.track[row]));
      part.start_ns.push_back(whole_.start_ns[row]);
      part.duration_ns.push_back(whole_.duration_ns[row]);
      part.correlation.push_back(whole_.correlation[row]);
      part.external_id.push_back(whole_.external_id[row]);
      part.descriptor.push_back(DescriptorId{new_descriptor_[index(whole_.descriptor[row])]});
    }
  }

  void take_side_tables(std::size_t which, EventTable& part) const {
    for (const std::uint32_t i : syncs_[which]) {
      part.syncs.push_back(whole_.syncs[i]);
    }
    for (const std::uint32_t i : flows_[which]) {
      part.flows.push_back(whole_.flows[i]);
      part.flows.back().track = track(part.flows.back().track);
    }
    for (const std::uint32_t i : numbers_[which]) {
      part.sequence_numbers.push_back(whole_.sequence_numbers[i]);
      EventId& event = part.sequence_numbers.back().event;
      event = EventId{new_row_[index(event)]};
    }
    for (const std::uint32_t i : calls_[which]) {
      part.record_functions.push_back(whole_.record_functions[i]);
      EventId& event = part.record_functions.back().event;
      event = EventId{new_row_[index(event)]};
    }
    for (const std::uint32_t i : memory_[which]) {
      part.memory.push_back(whole_.memory[i]);
      part.memory.back().track = track(part.memory.back().track);
    }
  }

  /// Those its streams are on; all of the machine, if none of these is listed.
  void take_devices(EventTable& part) const {
    constexpr std::size_t most_of_machine = 64;
    std::set<std::int32_t> used;
    for (const Track& track : part.tracks) {
      if (track.kind == Track::Kind::stream) {
        used.insert(track.device);
      }
    }
    std::vector<std::size_t> own;
    for (const std::int32_t id : used) {
      const auto [first, last] = devices_.equal_range(id);
      std::transform(first, last, std::back_inserter(own),
                     [](const auto& row) { return row.second; });
    }
    std::sort(own.begin(), own.end());
    for (const std::size_t i : own) {
      part.info.devices.push_back(whole_.info.devices[i]);
    }
    if (own.empty() && devices_.size() <= most_of_machine) {
      part.info.devices = whole_.info.devices;
    }
    for (DeviceProperties& device : part.info.devices) {
      device.rank = part.info.rank;
    }
  }

  static void make_relative(EventTable& part) {
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    const auto note = [&](std::int64_t time) { first = std::min(first, time); };
    std::for_each(part.start_ns.begin(), part.start_ns.end(), note);
    for (const SyncRecord& sync : part.syncs) note(sync.start_ns);
    for (const Flow& flow : part.flows) note(flow.time_ns);
    for (const MemoryEvent& memory : part.memory) note(memory.time_ns);
    if (first == std::numeric_limits<std::int64_t>::max()) return;
    part.info.first_time_ns += first;
    for (std::int64_t& start : part.start_ns) start -= first;
    for (SyncRecord& sync : part.syncs) sync.start_ns -= first;
    for (Flow& flow : part.flows) flow.time_ns -= first;
    for (MemoryEvent& memory : part.memory) memory.time_ns -= first;
  }

  const EventTable& whole_;
  const std::vector<std::int32_t>& ranks_;
  ByPart tracks_;
  ByPart rows_;
  std::vector<std::vector<std::uint32_t>> syncs_;
  ByPart flows_;
  ByPart numbers_;
  ByPart calls_;
  ByPart memory_;
  Renumbered new_name_;
  Renumbered new_descriptor_;
  std::vector<std::uint32_t> new_track_;
  std::vector<std::uint32_t> new_row_;
  TraceInfo info_;                                    // without devices
  std::multimap<std::int32_t, std::size_t> devices_;  // rows by id
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
  Splitter splitter(events, ranks);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    parts.push_back(splitter.part(i));
  }
  return parts;
}

}  // namespace foretrace::trace
