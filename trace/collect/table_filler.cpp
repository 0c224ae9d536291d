#include "trace/collect/table_filler.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include <fmt/format.h>

namespace foretrace::trace::collector {
TrackId TableFiller::track(const TrackKey& key) {
  const auto next = make_id<TrackId>(table_.tracks.size());
  const auto [found, added] = tracks_.try_emplace(key, next);
  if (added) {
    const auto& [kind, first, number] = key;
    Track track;
    track.kind = kind;
    track.number = number;
    if (kind == Track::Kind::stream) {
      track.device = static_cast<std::int32_t>(first);
    } else {
      track.process = first;
    }
    track.process_text = table_.names.intern(fmt::format("{}", first));
    track.number_text = table_.names.intern(fmt::format("{}", number));
    table_.tracks.push_back(track);
  }
  return found->second;
}

TrackId TableFiller::host_thread(std::uint32_t process, std::uint32_t thread) {
  return track({Track::Kind::host_thread, process, thread});
}

TrackId TableFiller::stream(std::uint32_t device, std::int64_t number) {
  constexpr std::uint32_t most = std::numeric_limits<std::int32_t>::max();
  return track({Track::Kind::stream, std::min(device, most), number});
}

DescriptorId TableFiller::descriptor(const Descriptor& d) {
  const DescriptorKey key{d.bytes, d.grid, d.block, d.registers_per_thread, d.shared_memory_bytes,
                          d.text};
  const auto next = make_id<DescriptorId>(table_.descriptors.size());
  const auto [found, added] = descriptors_.try_emplace(key, next);
  if (added) {
    table_.descriptors.push_back(d);
  }
  return found->second;
}

void TableFiller::drop(std::string_view reason, std::string_view what, std::uint64_t count) {
  report_.count(DamageKind::dropped, reason, 0, what);
  const auto counted = std::find_if(report_.damage.begin(), report_.damage.end(),
                                    [&](const Damage& d) { return d.reason == reason; });
  counted->count += count - 1;
}

bool TableFiller::add(const Row& row, std::string_view what) {
  if (row.start <= 0 || row.end <= 0) {
    drop("record without a time", what);
    return false;
  }
  if (row.end < row.start) {
    drop("record that ends before it starts", what);
    return false;
  }
  if (row.end >= latest) {
    drop("record with a time out of range", what);
    return false;
  }
  rows_.push_back(row);
  return true;
}

void TableFiller::fill(std::int64_t offset, std::int32_t rank) {
  std::vector<std::uint32_t> order(rows_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [this](std::uint32_t a, std::uint32_t b) {
    return std::tuple(rows_[a].start, -rows_[a].end) < std::tuple(rows_[b].start, -rows_[b].end);
  });
  std::int64_t first = rows_.empty() ? latest : rows_[order.front()].start;
  for (const SyncRecord& sync : table_.syncs) {
    first = std::min(first, sync.start_ns);
  }
  for (const MemoryEvent& memory : table_.memory) {
    first = std::min(first, memory.time_ns);
  }
  first = first == latest ? 0 : first;
  for (const std::uint32_t at : order) {
    const Row& row = rows_[at];
    table_.kind.push_back(row.kind);
    table_.name.push_back(row.name);
    table_.track.push_back(row.track);
    table_.start_ns.push_back(row.start - first);
    table_.duration_ns.push_back(row.end - row.start);
    table_.correlation.push_back(row.correlation);
    table_.external_id.push_back(row.external_id);
    table_.descriptor.push_back(row.descriptor);
  }
  for (SyncRecord& sync : table_.syncs) {
    sync.start_ns -= first;
  }
  for (MemoryEvent& memory : table_.memory) {
    memory.time_ns -= first;
  }
  for (Track& track : table_.tracks) {
    track.rank = std::max(rank, 0);
  }
  table_.info.first_time_ns = first + offset;
  report_.kept = table_.size() + table_.syncs.size() + table_.memory.size();
}

}  // namespace foretrace::trace::collector
