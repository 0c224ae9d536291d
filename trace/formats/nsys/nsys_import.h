// Fills an EventTable from the tables of an Nsight Systems export.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "trace/formats/common/row_builder.h"
#include "trace/formats/common/sqlite_file.h"
#include "trace/table/events.h"
#include "trace/table/import_report.h"

namespace foretrace::trace::formats {

/// Process and thread of a globalTid: 24 bits each, below what names the machine.
struct GlobalThread {
  std::int64_t process = 0;
  std::int64_t thread = 0;
};
[[nodiscard]] GlobalThread unpack_global_id(std::int64_t id);

class NsysImport {
 public:
  NsysImport(SqliteFile& file, EventTable& table, ImportReport& report)
      : file_(file), table_(table), report_(report), rows_(table, report) {}

  /// Reads everything. Call once.
  void run();

 private:
  struct CudaEvent {
    std::int64_t stream = -1;
    std::int64_t correlation = -1;
  };
  /// Process, event, and what tells its records apart (-1 in older exports).
  using EventKey = std::tuple<std::int64_t, std::int64_t, std::int64_t>;

  void read_strings();
  void read_calls();
  void read_ranges();
  void add_range(TableScan& scan, std::string_view text, RowPlace place);
  void read_overheads();
  void read_thread_names();
  void read_session();
  void warn();

  void read_device_ids();
  void read_devices();
  void read_kernels();
  void read_copies();
  void read_sets();
  void read_graphs();
  void read_cuda_events();
  void read_syncs();
  void find_record(SyncRecord& sync, std::int64_t process, std::int64_t event,
                   std::int64_t record) const;
  void read_memory();

  /// Kernels, copies and sets have their place in these columns, in this order.
  bool add_operation(TableScan& scan, EventRow row, RowPlace place);
  void close(const TableScan& scan, std::string_view table);
  [[nodiscard]] std::string_view string(std::int64_t id) const;
  [[nodiscard]] std::int64_t process_of(TableScan& scan, std::size_t column);
  [[nodiscard]] std::int64_t device_of(std::int64_t process, std::int64_t device) const;

  SqliteFile& file_;
  EventTable& table_;
  ImportReport& report_;
  RowBuilder rows_;
  std::unordered_map<std::int64_t, std::string> strings_;
  std::set<std::int64_t> processes_;  // that made calls
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> device_ids_;
  std::map<std::pair<std::int64_t, std::int64_t>, SyncKind> sync_calls_;
  std::map<EventKey, CudaEvent> cuda_events_;
  std::map<std::pair<std::int64_t, std::int64_t>, TrackId> call_tracks_;  // of memory calls
  std::uint64_t repeated_calls_ = 0;
};

}  // namespace foretrace::trace::formats
