#include "trace/formats/common/row_builder.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "sim/core/integers.h"
#include "trace/formats/common/descriptor_hash.h"
#include "trace/io/text.h"

namespace foretrace::trace::formats {
namespace {

// 73 years in ns: starts, durations and their sums and differences fit into 64 bits.
constexpr std::int64_t longest = std::int64_t{1} << 61;
constexpr std::int64_t widest_narrow = std::numeric_limits<std::uint32_t>::max();

bool same(const Descriptor& a, const Descriptor& b) {
  return a.dims == b.dims && a.types == b.types && a.concrete == b.concrete && a.bytes == b.bytes &&
         a.grid == b.grid && a.block == b.block &&
         a.registers_per_thread == b.registers_per_thread &&
         a.shared_memory_bytes == b.shared_memory_bytes && !(a.flops < b.flops) &&
         !(b.flops < a.flops) && a.text == b.text;
}

}  // namespace

RowBuilder::RowBuilder(EventTable& table, ImportReport& report) : table_(table), report_(report) {
  if (table_.descriptors.empty()) {
    table_.descriptors.emplace_back();
  }
}

TrackId RowBuilder::stream(std::int64_t process, std::int64_t device, std::int64_t number) {
  return track({Track::Kind::stream, process, clamped_int32(device, -1), number});
}

TrackId RowBuilder::track(const TrackKey& key) {
  if (recent_ != none<TrackId> && key == recent_key_) return recent_;
  const auto [found, added] = tracks_.try_emplace(key, make_id<TrackId>(table_.tracks.size()));
  if (added) {
    const auto& [kind, process, device, number] = key;
    Track row;
    row.kind = kind;
    row.process = process;
    row.device = device;
    row.number = number;
    row.process_text = table_.names.intern(std::to_string(process));
    row.number_text = table_.names.intern(std::to_string(number));
    table_.tracks.push_back(row);
  }
  recent_key_ = key;
  recent_ = found->second;
  return recent_;
}

void RowBuilder::name_track(TrackId track, std::string_view name) {
  table_.tracks[index(track)].name =
      table_.names.intern(is_valid_utf8(name) ? std::string(name) : with_valid_utf8(name));
}

NameId RowBuilder::intern(std::string_view text, RowPlace place) {
  if (is_valid_utf8(text)) return table_.names.intern(text);
  repair("invalid UTF-8 in a name", place);
  return table_.names.intern(with_valid_utf8(text));
}

DescriptorId RowBuilder::intern(const Descriptor& descriptor) {
  if (same(descriptor, table_.descriptors.front())) {
    return DescriptorId{};
  }
  const std::uint64_t hash = hash_of(descriptor);
  const auto [begin, end] = descriptors_.equal_range(hash);
  for (auto at = begin; at != end; ++at) {
    if (same(table_.descriptors[index(at->second)], descriptor)) return at->second;
  }
  const auto id = make_id<DescriptorId>(table_.descriptors.size());
  table_.descriptors.push_back(descriptor);
  descriptors_.emplace(hash, id);
  return id;
}

void RowBuilder::count(DamageKind kind, std::string_view reason, RowPlace place) {
  report_.count(kind, reason, place.offset,
                place.number == 0 ? std::string(place.table)
                                  : fmt::format("{} row {}", place.table, place.number));
}

bool RowBuilder::take_times(std::int64_t start, std::int64_t end, RowPlace place) {
  ++report_.events;
  if (start <= -longest || start >= longest || end <= -longest || end >= longest) {
    drop("time out of range", place);
    return false;
  }
  if (end < start) {
    drop("negative duration", place);
    return false;
  }
  ++report_.kept;
  first_time_ = std::min(first_time_, start);
  return true;
}

bool RowBuilder::add(const EventRow& row, RowPlace place) {
  if (!take_times(row.start_ns, row.end_ns, place)) return false;
  table_.kind.push_back(row.kind);
  table_.name.push_back(row.name);
  table_.track.push_back(row.track);
  table_.start_ns.push_back(row.start_ns);
  table_.duration_ns.push_back(row.end_ns - row.start_ns);
  table_.external_id.push_back(0);
  table_.descriptor.push_back(row.descriptor);
  correlations_.push_back({row.scope, std::max<std::int64_t>(row.correlation, 0)});
  return true;
}

void RowBuilder::add(const SyncRecord& sync, std::int64_t scope, RowPlace place) {
  if (sync.duration_ns < 0 || sync.duration_ns >= longest) {
    ++report_.events;
    drop("negative duration", place);
    return;
  }
  if (take_times(sync.start_ns, sync.start_ns, place)) {
    table_.syncs.push_back(sync);
    sync_scopes_.push_back(scope);
  }
}

void RowBuilder::add(const MemoryEvent& memory, RowPlace place) {
  if (take_times(memory.time_ns, memory.time_ns, place)) {
    table_.memory.push_back(memory);
  }
}

void RowBuilder::add_sequence_number(std::int64_t number, std::int64_t forward_thread) {
  table_.sequence_numbers.push_back({make_id<EventId>(table_.size() - 1), number, forward_thread});
}

std::vector<std::int64_t> RowBuilder::device_processes() const {
  std::set<std::int64_t> processes;
  for (const Track& track : table_.tracks) {
    if (track.kind == Track::Kind::stream) {
      processes.insert(track.process);
    }
  }
  return {processes.begin(), processes.end()};
}

// As recorded where they tell rows apart that way; else numbered anew, in order.
void RowBuilder::finish_correlations() {
  std::vector<ScopedId> used;
  bool plain = true;
  std::int64_t only_scope = std::numeric_limits<std::int64_t>::min();
  const auto note = [&](ScopedId id) {
    if (id.id <= 0) return;
    plain = plain && id.id <= widest_narrow && (used.empty() || id.scope == only_scope);
    only_scope = id.scope;
    used.push_back(id);
  };
  std::for_each(correlations_.begin(), correlations_.end(), note);
  for (std::size_t i = 0; i < table_.syncs.size(); ++i) {
    note({sync_scopes_[i], table_.syncs[i].correlation});
    note({sync_scopes_[i], table_.syncs[i].record_correlation});
  }
  if (!plain) {
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
  }
  const auto narrow = [&](ScopedId id) -> std::int64_t {
    if (id.id <= 0 || plain) return id.id;
    return std::lower_bound(used.begin(), used.end(), id) - used.begin() + 1;
  };
  table_.correlation.resize(correlations_.size());
  for (std::size_t row = 0; row < correlations_.size(); ++row) {
    table_.correlation[row] = static_cast<std::uint32_t>(narrow(correlations_[row]));
  }
  for (std::size_t i = 0; i < table_.syncs.size(); ++i) {
    SyncRecord& sync = table_.syncs[i];
    sync.correlation = narrow({sync_scopes_[i], sync.correlation});
    sync.record_correlation = narrow({sync_scopes_[i], sync.record_correlation});
  }
}

void RowBuilder::finish() {
  finish_correlations();
  const bool empty = first_time_ == std::numeric_limits<std::int64_t>::max();
  const std::int64_t first = empty ? 0 : first_time_;
  table_.info.first_time_ns = first;
  for (std::int64_t& start : table_.start_ns) {
    start -= first;
  }
  for (SyncRecord& sync : table_.syncs) {
    sync.start_ns -= first;
  }
  for (MemoryEvent& memory : table_.memory) {
    memory.time_ns -= first;
  }
  const std::vector<std::int64_t> processes = device_processes();
  for (Track& track : table_.tracks) {
    const auto at = std::lower_bound(processes.begin(), processes.end(), track.process);
    if (at != processes.end() && *at == track.process && table_.info.rank < 0) {
      track.rank = static_cast<std::int32_t>(at - processes.begin());
    } else {
      track.rank = std::max(table_.info.rank, 0);
    }
  }
}

}  // namespace foretrace::trace::formats
