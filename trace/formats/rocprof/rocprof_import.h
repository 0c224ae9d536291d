// Fills an EventTable from the records of rocprofv3 (rocprofiler-sdk-tool). Agents, symbols and
// strings stand before the records that name them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "trace/formats/common/row_builder.h"
#include "trace/formats/rocprof/rocprof_record.h"
#include "trace/table/events.h"
#include "trace/table/import_report.h"

namespace foretrace::trace::formats {

class RocprofImport {
 public:
  RocprofImport(EventTable& table, ImportReport& report)
      : table_(table), report_(report), rows_(table, report) {}

  /// True for the lists and objects that hold what is wanted.
  [[nodiscard]] static bool enters(std::string_view path);
  /// Takes one value: a record, an agent, a symbol, ... (scan_padding bytes behind it).
  void take(std::string_view path, std::string_view value, std::uint64_t offset);
  void damage(std::string_view reason, std::uint64_t offset);
  /// The records of a process are over.
  void end_process();
  /// Makes the table complete. Call once.
  void finish();

 private:
  using Record = RocprofRecord;
  struct Kernel {
    NameId name{};
    std::int64_t registers = 0;
  };
  void take_agent(std::string_view value, RowPlace place);
  void take_symbol(std::string_view value, RowPlace place);
  void take_strings(std::string_view value);
  void take_message(std::string_view value);
  void add_kernel(const Record& record, RowPlace place);
  void add_copy(const Record& record, RowPlace place);
  void add_call(const Record& record, EventKind kind, RowPlace place);
  void add_allocation(const Record& record, RowPlace place);
  [[nodiscard]] NameId operation_name(const Record& record);
  [[nodiscard]] std::int32_t device_of(std::int64_t agent) const;

  EventTable& table_;
  ImportReport& report_;
  RowBuilder rows_;
  std::int64_t process_ = 0;
  std::map<std::int64_t, std::int32_t> device_of_agent_;
  std::unordered_map<std::int64_t, Kernel> kernels_;
  std::vector<std::vector<NameId>> operations_;           // by kind
  std::unordered_map<std::int64_t, NameId> messages_;     // by correlation
  std::unordered_map<std::int64_t, std::int64_t> sizes_;  // of allocations, by address
  std::unordered_set<std::int32_t> listed_;               // devices
  std::uint64_t launches_ = 0;
  std::uint64_t work_ = 0;
};

}  // namespace foretrace::trace::formats
