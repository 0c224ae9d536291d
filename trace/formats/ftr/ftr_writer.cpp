// Writer of .ftr files: an EventTable as chunks of compressed columns.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "sim/core/text.h"
#include "trace/formats/writer.h"
#include "trace/ftr/container.h"
#include "trace/ftr/rows.h"
#include "trace/ftr/table_fields.h"
#include "trace/ftr/texts.h"

namespace foretrace::trace::writers::ftr_parts {
namespace {

using namespace foretrace::trace::ftr;  // NOLINT(google-build-using-namespace): this file is it

constexpr std::size_t text_bytes_per_chunk = std::size_t{1} << 20U;
// Written once, read often.
constexpr int level = 9;

class TableWriter {
 public:
  TableWriter(const LoadedTrace& trace, const ByteSink& sink)
      : trace_(trace), table_(trace.events), import_(trace.report), sink_(sink) {}

  Result<WriteReport> write() {
    FORETRACE_TRY(check_holds_events(trace_, report_));
    usable_ = sink_(head());
    info();
    // Names of devices are texts of the table's own kind, numbered behind the names.
    names();
    put_table(ChunkKind::devices, devices_, device_fields);
    put_table(ChunkKind::tracks, table_.tracks, track_fields);
    put_table(ChunkKind::descriptors, table_.descriptors, descriptor_fields);
    events();
    put_table(ChunkKind::sequence_numbers, table_.sequence_numbers, sequence_fields);
    put_table(ChunkKind::record_functions, table_.record_functions, call_fields);
    put_table(ChunkKind::syncs, table_.syncs, sync_fields);
    put_table(ChunkKind::flows, table_.flows, flow_fields);
    put_table(ChunkKind::memory, table_.memory, memory_fields);
    report();
    put(ChunkKind::end, put_pairs({{"rows", fmt::format("{}", table_.size())}}));
    if (!usable_) {
      return Error{ErrorCode::io, "the trace cannot be written"};
    }
    report_.events = table_.size() + table_.sequence_numbers.size() + table_.syncs.size() +
                     table_.flows.size() + table_.memory.size();
    return report_;
  }

 private:
  void put(ChunkKind kind, std::string_view payload) {
    usable_ = usable_ && sink_(chunk(kind, ordinal_++, payload));
  }

  template <typename Row, std::size_t size>
  void put_table(ChunkKind kind, const std::vector<Row>& rows,
                 const std::array<Field<Row>, size>& fields) {
    for (std::size_t at = 0; at < rows.size(); at += rows_per_chunk) {
      const std::span<const Row> some =
          std::span(rows).subspan(at, std::min(rows_per_chunk, rows.size() - at));
      put(kind, put_rows(some, fields, at));
    }
  }

  void info() {
    const TraceInfo& info = table_.info;
    const auto number = [](std::int64_t value) { return fmt::format("{}", value); };
    Pairs pairs = {{"content", "table"},
                   {"format", info.format},
                   {"source", std::string(file_name_of(info.path))},
                   {"rank", number(info.rank)},
                   {"world_size", number(info.world_size)},
                   {"base_time_ns", number(info.base_time_ns)},
                   {"first_time_ns", number(info.first_time_ns)},
                   {"resolution_ns", number(info.resolution_ns)},
                   {"is_hip", info.is_hip ? "1" : "0"}};
    for (const auto& [key, value] : info.environment) {
      pairs.emplace_back(std::string(environment_prefix) + key, value);
    }
    put(ChunkKind::info, put_pairs(pairs));
  }

  void names() {
    std::vector<std::string_view> texts;
    for (std::size_t i = 0; i < table_.names.size(); ++i) {
      texts.push_back(table_.names[make_id<NameId>(i)]);
    }
    for (const DeviceProperties& d : table_.info.devices) {
      devices_.push_back({static_cast<std::int64_t>(texts.size()), d.rank, d.id,
                          d.total_memory_bytes, d.multiprocessors, d.compute_major, d.compute_minor,
                          d.max_threads_per_multiprocessor, d.registers_per_multiprocessor,
                          d.shared_memory_per_multiprocessor, d.warp_size});
      texts.emplace_back(d.name);
    }
    std::size_t first = 0;
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      bytes += texts[i].size();
      if (bytes >= text_bytes_per_chunk || i + 1 == texts.size() ||
          i + 1 - first == rows_per_chunk) {
        put(ChunkKind::names,
            put_names(first, std::span(texts).subspan(first, i + 1 - first), level));
        first = i + 1;
        bytes = 0;
      }
    }
  }

  template <typename T>
  void event_column(std::string& payload, EventColumn id, const std::vector<T>& column,
                    std::size_t first) {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      values_[i] = static_cast<std::int64_t>(column[first + i]);
    }
    put_stored_column(payload, static_cast<std::uint64_t>(id), values_);
  }

  void events() {
    for (std::size_t at = 0; at < table_.size(); at += rows_per_chunk) {
      const std::size_t count = std::min(rows_per_chunk, table_.size() - at);
      values_.resize(count);
      std::string payload = start_rows(at, count, event_columns);
      event_column(payload, EventColumn::kind, table_.kind, at);
      event_column(payload, EventColumn::name, table_.name, at);
      event_column(payload, EventColumn::track, table_.track, at);
      event_column(payload, EventColumn::start, table_.start_ns, at);
      event_column(payload, EventColumn::duration, table_.duration_ns, at);
      event_column(payload, EventColumn::correlation, table_.correlation, at);
      event_column(payload, EventColumn::external_id, table_.external_id, at);
      event_column(payload, EventColumn::descriptor, table_.descriptor, at);
      finish_rows(payload, count);
      put(ChunkKind::events, payload);
    }
  }

  void report() {
    Pairs pairs = {{"events", fmt::format("{}", import_.events)},
                   {"kept", fmt::format("{}", import_.kept)},
                   {"bytes", fmt::format("{}", import_.bytes)}};
    for (const Damage& damage : import_.damage) {
      pairs.emplace_back(
          "damage",
          fmt::format("{} {} {}", damage.kind == DamageKind::dropped ? "dropped" : "repaired",
                      damage.count, damage.first_offset));
      pairs.emplace_back("reason", damage.reason);
      pairs.emplace_back("example", damage.example);
    }
    for (const std::string& warning : import_.warnings) {
      pairs.emplace_back("warning", warning);
    }
    put(ChunkKind::report, put_pairs(pairs));
  }

  const LoadedTrace& trace_;
  const EventTable& table_;
  const ImportReport& import_;
  const ByteSink& sink_;
  std::vector<DeviceRow> devices_;
  std::vector<std::int64_t> values_;
  std::uint32_t ordinal_ = 0;
  bool usable_ = true;
  WriteReport report_;
};

Result<WriteReport> write(const LoadedTrace& trace, const ByteSink& sink) {
  return TableWriter(trace, sink).write();
}

}  // namespace

extern constexpr WriterInfo info = {
    .name = "ftr",
    .summary = "compressed columns that reopen at once, with checksums",
    .suffixes = ".ftr .ftr.gz",
    .write = write,
};

}  // namespace foretrace::trace::writers::ftr_parts
