#include "trace/ftr/read_table.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "sim/core/integers.h"
#include "sim/core/parallel.h"
#include "trace/ftr/bytes.h"
#include "trace/ftr/event_columns.h"
#include "trace/ftr/rows.h"
#include "trace/ftr/table_fields.h"

namespace foretrace::trace::ftr {
namespace {

// Below this, starting a thread costs more than it saves.
constexpr std::uint64_t file_worth_threads = std::uint64_t{1} << 18U;

bool is_time(std::int64_t ns) { return ns >= 0 && ns < latest; }

class TableReader {
 public:
  TableReader(std::span<const Chunk> chunks, LoadedTrace& trace)
      : chunks_(chunks), trace_(trace), table_(trace.events), report_(trace.report) {}

  void read(std::uint64_t file_bytes, const Pairs& info) {
    read_info(info);
    most_lost_rows_ = std::min(most_rows, file_bytes * most_rows_per_byte);
    EventDecoder events(chunks_, table_, report_);
    const std::size_t threads = file_bytes < file_worth_threads ? 1 : 2;
    for_each_index(
        2,
        [&](std::size_t part) {
          if (part == 0) {
            read_dictionaries(file_bytes);
          } else {
            events.decode();
          }
        },
        threads);
    read_side_tables(events.finish(names_));
    if (names_.missing() > 0) {
      report_.count(DamageKind::repaired, "names that are missing", 0,
                    fmt::format("{} of them", names_.missing()));
    }
    read_report();
  }

 private:
  void read_info(const Pairs& pairs) {
    TraceInfo& info = table_.info;
    info.format = std::string(value_of(pairs, "format"));
    info.rank = clamped_int32(number_of(pairs, "rank", -1), -1);
    info.world_size = clamped_int32(number_of(pairs, "world_size", -1), -1);
    info.base_time_ns = number_of(pairs, "base_time_ns", 0);
    info.first_time_ns = std::clamp(number_of(pairs, "first_time_ns", 0), -latest, latest);
    info.resolution_ns = std::max<std::int64_t>(1, number_of(pairs, "resolution_ns", 1));
    info.is_hip = number_of(pairs, "is_hip", 0) != 0;
    for (const auto& [key, value] : pairs) {
      if (key.starts_with(environment_prefix)) {
        info.environment.emplace_back(key.substr(environment_prefix.size()), value);
      }
    }
  }

  // What events refer to.
  void read_dictionaries(std::uint64_t file_bytes) {
    names_.read(chunks_, file_bytes, table_.names, report_);
    append(ChunkKind::tracks, track_fields, table_.tracks);
    append(ChunkKind::descriptors, descriptor_fields, table_.descriptors);
    if (table_.descriptors.empty()) {
      table_.descriptors.emplace_back();
    }
    resolve_names();
    read_devices();
  }

  template <typename Row, std::size_t size>
  void append(ChunkKind kind, const std::array<Field<Row>, size>& fields, std::vector<Row>& out) {
    for (const Chunk& chunk : chunks_) {
      if (chunk.kind != kind || chunk.damaged) continue;
      const std::optional<StoredRows> rows = take_rows(chunk.payload);
      // Rows are referred to by position: what follows a lost chunk must not move forward.
      if (rows && rows->first > out.size() && rows->first <= most_lost_rows_) {
        out.resize(static_cast<std::size_t>(rows->first));
      }
      if (!rows || !append_rows(*rows, fields, out)) {
        report_.count(DamageKind::dropped, "damaged chunk of rows", chunk.offset,
                      fmt::format("chunk {}", chunk.ordinal));
      }
    }
  }

  void resolve_names() {
    for (Track& track : table_.tracks) {
      track.process_text = names_.id(index(track.process_text));
      track.number_text = names_.id(index(track.number_text));
      track.name = names_.id(index(track.name));
      if (track.kind > Track::Kind::other) {
        track.kind = Track::Kind::other;
      }
    }
    for (Descriptor& descriptor : table_.descriptors) {
      descriptor.dims = names_.id(index(descriptor.dims));
      descriptor.types = names_.id(index(descriptor.types));
      descriptor.concrete = names_.id(index(descriptor.concrete));
      descriptor.text = names_.id(index(descriptor.text));
    }
  }

  void read_devices() {
    std::vector<DeviceRow> rows;
    append(ChunkKind::devices, device_fields, rows);
    for (const DeviceRow& row : rows) {
      const NameId name = names_.id(static_cast<std::uint64_t>(row.name));
      table_.info.devices.push_back({row.rank, row.id, std::string(table_.names[name]),
                                     row.total_memory_bytes, row.multiprocessors, row.compute_major,
                                     row.compute_minor, row.max_threads_per_multiprocessor,
                                     row.registers_per_multiprocessor,
                                     row.shared_memory_per_multiprocessor, row.warp_size});
    }
  }

  template <typename Row, typename Keep>
  void keep_if(std::vector<Row>& rows, std::string_view what, const Keep& keep) {
    const auto end = std::remove_if(rows.begin(), rows.end(), [&](Row& row) { return !keep(row); });
    for (auto at = end; at != rows.end(); ++at) {
      report_.count(DamageKind::dropped, what, 0, "");
    }
    rows.erase(end, rows.end());
  }

  // One row per event at most, in the order of events.
  template <typename Row>
  void keep_in_order(std::vector<Row>& list, std::string_view what, const RowMap& rows) {
    EventId last = none<EventId>;
    keep_if(list, what, [&](Row& row) {
      row.event = rows.find(index(row.event));
      const bool grows = last == none<EventId> || last < row.event;
      const bool kept = row.event != none<EventId> && grows;
      last = kept ? row.event : last;
      return kept;
    });
  }

  void read_side_tables(const RowMap& rows) {
    append(ChunkKind::sequence_numbers, sequence_fields, table_.sequence_numbers);
    append(ChunkKind::record_functions, call_fields, table_.record_functions);
    append(ChunkKind::syncs, sync_fields, table_.syncs);
    append(ChunkKind::flows, flow_fields, table_.flows);
    append(ChunkKind::memory, memory_fields, table_.memory);
    keep_in_order(table_.sequence_numbers, "sequence number of a missing event", rows);
    keep_in_order(table_.record_functions, "number of a missing call", rows);
    keep_if(table_.syncs, "synchronization out of range", [](SyncRecord& sync) {
      return is_time(sync.start_ns) && is_time(sync.duration_ns) &&
             sync.kind <= SyncKind::stream_wait;
    });
    const auto has_track = [this](TrackId track) { return index(track) < table_.tracks.size(); };
    keep_if(table_.flows, "flow out of range",
            [&](Flow& flow) { return is_time(flow.time_ns) && has_track(flow.track); });
    keep_if(table_.memory, "memory event out of range",
            [&](MemoryEvent& event) { return is_time(event.time_ns) && has_track(event.track); });
  }

  // What was said of the original stays said; what happened to this file is added.
  void read_report() {
    ImportReport original;
    Pairs pairs;
    for (const Chunk& chunk : chunks_) {
      if (chunk.kind == ChunkKind::report && !chunk.damaged && !take_pairs(chunk.payload, pairs)) {
        report_.count(DamageKind::dropped, "damaged chunk of the report", chunk.offset, "");
      }
    }
    for (const auto& [key, value] : pairs) {
      add_line(key, value, original);
    }
    const std::uint64_t rows = table_.size() + table_.sequence_numbers.size() +
                               table_.syncs.size() + table_.flows.size() + table_.memory.size();
    original.events = static_cast<std::uint64_t>(
        std::max<std::int64_t>(0, number_of(pairs, "events", static_cast<std::int64_t>(rows))));
    original.kept = static_cast<std::uint64_t>(
        std::max<std::int64_t>(0, number_of(pairs, "kept", static_cast<std::int64_t>(rows))));
    original.bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(
        0, number_of(pairs, "bytes", static_cast<std::int64_t>(report_.bytes))));
    warn_if_unfinished(chunks_, trace_);
    for (Damage& damage : report_.damage) {
      original.damage.push_back(std::move(damage));
    }
    for (std::string& warning : report_.warnings) {
      original.warnings.push_back(std::move(warning));
    }
    original.kept = std::min(original.kept, original.events);
    report_ = std::move(original);
  }

  static void add_line(const std::string& key, const std::string& value, ImportReport& report) {
    if (key == "damage") {
      Damage damage;
      damage.kind = value.starts_with("repaired") ? DamageKind::repaired : DamageKind::dropped;
      const char* const end = value.data() + value.size();
      const std::size_t blank = std::min(value.find(' '), value.size() - 1);
      const auto count = std::from_chars(value.data() + blank + 1, end, damage.count);
      if (count.ptr < end) {
        std::from_chars(count.ptr + 1, end, damage.first_offset);
      }
      report.damage.push_back(std::move(damage));
    } else if (key == "reason" && !report.damage.empty()) {
      report.damage.back().reason = value;
    } else if (key == "example" && !report.damage.empty()) {
      report.damage.back().example = value;
    } else if (key == "warning") {
      report.warnings.push_back(value);
    }
  }

  std::uint64_t most_lost_rows_ = 0;  // lost rows lay in the file too
  std::span<const Chunk> chunks_;
  LoadedTrace& trace_;
  EventTable& table_;
  ImportReport& report_;
  FileNames names_;
};

}  // namespace

void read_table(std::span<const Chunk> chunks, std::uint64_t file_bytes, const Pairs& info,
                LoadedTrace& trace) {
  TableReader(chunks, trace).read(file_bytes, info);
}

void warn_if_unfinished(std::span<const Chunk> chunks, LoadedTrace& trace) {
  const bool finished = std::any_of(chunks.begin(), chunks.end(), [](const Chunk& chunk) {
    return chunk.kind == ChunkKind::end;
  });
  if (!finished) {
    trace.report.warnings.push_back(fmt::format(
        "the file has no end mark, its writer was stopped: {} events in {} whole chunks were read",
        trace.events.size(), chunks.size()));
  }
}

}  // namespace foretrace::trace::ftr
