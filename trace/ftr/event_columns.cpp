#include "trace/ftr/event_columns.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "sim/core/parallel.h"
#include "trace/ftr/rows.h"
#include "trace/ftr/table_fields.h"

namespace foretrace::trace::ftr {

struct EventDecoder::Part {
  const Chunk* chunk = nullptr;
  StoredRows rows;
  std::size_t to = 0;
  std::array<bool, event_columns> failed{};  // a byte each: threads write side by side
  bool flawed = false;
};

namespace {

// Below this, starting a thread costs more than it saves.
constexpr std::uint64_t rows_worth_threads = 20'000;

template <typename T>
bool take(const auto& part, EventColumn id, std::vector<T>& column) {
  using Stored =
      std::conditional_t<std::is_enum_v<T>, std::underlying_type<T>, std::type_identity<T>>;
  using Raw = typename Stored::type;
  // Enums are filled through the integers they are.
  const std::span<Raw> out(reinterpret_cast<Raw*>(column.data()) + part.to,
                           static_cast<std::size_t>(part.rows.count));
  return take_column(part.rows.column(static_cast<std::uint64_t>(id)), out);
}

bool take_one(const auto& part, std::size_t column, EventTable& table) {
  const auto id = static_cast<EventColumn>(column + 1);
  switch (id) {
    case EventColumn::kind: return take(part, id, table.kind);
    case EventColumn::name: return take(part, id, table.name);
    case EventColumn::track: return take(part, id, table.track);
    case EventColumn::start: return take(part, id, table.start_ns);
    case EventColumn::duration: return take(part, id, table.duration_ns);
    case EventColumn::correlation: return take(part, id, table.correlation);
    case EventColumn::external_id: return take(part, id, table.external_id);
    case EventColumn::descriptor: return take(part, id, table.descriptor);
  }
  return false;
}

void resize_one(std::size_t column, std::size_t rows, EventTable& table) {
  switch (static_cast<EventColumn>(column + 1)) {
    case EventColumn::kind: table.kind.resize(rows); return;
    case EventColumn::name: table.name.resize(rows); return;
    case EventColumn::track: table.track.resize(rows); return;
    case EventColumn::start: table.start_ns.resize(rows); return;
    case EventColumn::duration: table.duration_ns.resize(rows); return;
    case EventColumn::correlation: table.correlation.resize(rows); return;
    case EventColumn::external_id: table.external_id.resize(rows); return;
    case EventColumn::descriptor: table.descriptor.resize(rows); return;
  }
}

bool has_tracks_and_times(const EventTable& table, std::size_t row) {
  return index(table.track[row]) < table.tracks.size() && table.start_ns[row] >= 0 &&
         table.start_ns[row] < latest && table.duration_ns[row] >= 0 &&
         table.duration_ns[row] < latest && table.kind[row] <= EventKind::other;
}

bool is_flawed(const auto& part, const EventTable& table, const FileNames& names) {
  bool flawed = false;
  const std::size_t end = part.to + static_cast<std::size_t>(part.rows.count);
  for (std::size_t row = part.to; row < end; ++row) {
    flawed |= !has_tracks_and_times(table, row) || index(table.name[row]) >= names.size() ||
              index(table.descriptor[row]) >= table.descriptors.size();
  }
  return flawed;
}

class Compactor {
 public:
  Compactor(FileNames& names, EventTable& table, ImportReport& report)
      : names_(names), table_(table), report_(report) {}

  void add(const auto& part, RowMap& map) {
    const auto count = static_cast<std::size_t>(part.rows.count);
    if (std::find(part.failed.begin(), part.failed.end(), true) != part.failed.end()) {
      report_.count(DamageKind::dropped, "damaged chunk of events", part.chunk->offset,
                    fmt::format("chunk {}, {} events", part.chunk->ordinal, count));
      return;
    }
    std::vector<EventId> now(count, none<EventId>);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t row = part.to + i;
      if (!part.flawed || has_tracks_and_times(table_, row)) {
        now[i] = make_id<EventId>(to_);
        move(row, part);
      } else {
        report_.count(DamageKind::dropped, "event whose kind, track or time is out of range",
                      part.chunk->offset, fmt::format("row {}", part.rows.first + i));
      }
    }
    map.add(part.rows.first, std::move(now));
  }
  [[nodiscard]] std::size_t size() const { return to_; }

 private:
  void move(std::size_t row, const auto& part) {
    table_.kind[to_] = table_.kind[row];
    table_.name[to_] = names_.id(index(table_.name[row]));
    table_.track[to_] = table_.track[row];
    table_.start_ns[to_] = table_.start_ns[row];
    table_.duration_ns[to_] = table_.duration_ns[row];
    table_.correlation[to_] = table_.correlation[row];
    table_.external_id[to_] = table_.external_id[row];
    const bool known = index(table_.descriptor[row]) < table_.descriptors.size();
    if (!known) {
      report_.count(DamageKind::repaired, "arguments that are missing", part.chunk->offset,
                    fmt::format("number {}", index(table_.descriptor[row])));
    }
    table_.descriptor[to_] = known ? table_.descriptor[row] : DescriptorId{};
    ++to_;
  }

  FileNames& names_;
  EventTable& table_;
  ImportReport& report_;
  std::size_t to_ = 0;
};

}  // namespace

void RowMap::add(std::uint64_t first, std::vector<EventId> now) {
  const std::uint64_t count = now.size();
  parts_.push_back({first, count, 0, std::move(now)});
}

void RowMap::add_all_kept(std::uint64_t first, std::uint64_t count, std::size_t to) {
  parts_.push_back({first, count, to, {}});
}

void RowMap::sort() {
  std::stable_sort(parts_.begin(), parts_.end(),
                   [](const Part& a, const Part& b) { return a.first < b.first; });
}

EventId RowMap::find(std::uint64_t row) const {
  const auto behind =
      std::upper_bound(parts_.begin(), parts_.end(), row,
                       [](std::uint64_t value, const Part& part) { return value < part.first; });
  if (behind == parts_.begin()) return none<EventId>;
  const Part& part = *(behind - 1);
  const std::uint64_t at = row - part.first;
  if (at >= part.count) return none<EventId>;
  return part.now.empty() ? make_id<EventId>(part.to + static_cast<std::size_t>(at))
                          : part.now[static_cast<std::size_t>(at)];
}

EventDecoder::EventDecoder(std::span<const Chunk> chunks, EventTable& table, ImportReport& report)
    : table_(table), report_(report) {
  std::size_t to = 0;
  for (const Chunk& chunk : chunks) {
    if (chunk.kind != ChunkKind::events || chunk.damaged) continue;
    std::optional<StoredRows> rows = take_rows(chunk.payload);
    if (!rows || to + rows->count > index(none<EventId>)) {
      report_.count(DamageKind::dropped, "damaged chunk of events", chunk.offset,
                    fmt::format("chunk {}", chunk.ordinal));
      continue;
    }
    const auto count = static_cast<std::size_t>(rows->count);
    parts_.push_back(Part{&chunk, std::move(*rows), to, {}, false});
    to += count;
  }
}

EventDecoder::~EventDecoder() = default;

void EventDecoder::decode() {
  const std::size_t rows =
      parts_.empty() ? 0 : parts_.back().to + static_cast<std::size_t>(parts_.back().rows.count);
  const std::size_t threads = rows < rows_worth_threads ? 1 : 0;
  for_each_index(
      event_columns, [&](std::size_t i) { resize_one(i, rows, table_); }, threads);
  for_each_index(
      parts_.size() * event_columns,
      [&](std::size_t i) {
        Part& part = parts_[i / event_columns];
        part.failed[i % event_columns] = !take_one(part, i % event_columns, table_);
      },
      threads);
}

RowMap EventDecoder::finish(FileNames& names) {
  bool flawless = names.is_identity();
  for_each_index(
      parts_.size(), [&](std::size_t i) { parts_[i].flawed = is_flawed(parts_[i], table_, names); },
      table_.size() < rows_worth_threads ? 1 : 0);
  for (const Part& part : parts_) {
    flawless = flawless && !part.flawed &&
               std::find(part.failed.begin(), part.failed.end(), true) == part.failed.end();
  }
  RowMap map;
  if (flawless) {
    for (const Part& part : parts_) {
      map.add_all_kept(part.rows.first, part.rows.count, part.to);
    }
    map.sort();
    return map;
  }
  Compactor compactor(names, table_, report_);
  for (const Part& part : parts_) {
    compactor.add(part, map);
  }
  map.sort();
  for (std::size_t i = 0; i < event_columns; ++i) {
    resize_one(i, compactor.size(), table_);
  }
  return map;
}

}  // namespace foretrace::trace::ftr
