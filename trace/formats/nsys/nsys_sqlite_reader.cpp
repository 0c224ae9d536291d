// Reader of the SQLite exports of Nsight Systems (nsys export --type sqlite), schemas of 2020-2026.
//
//   CUPTI_ACTIVITY_KIND_{RUNTIME,KERNEL,MEMCPY,MEMSET,SYNCHRONIZATION,CUDA_EVENT,GRAPH_TRACE,...},
//   NVTX_EVENTS, ThreadNames, TARGET_INFO_*; a row of ..._KERNEL:
//
//   start  end   deviceId  streamId  correlationId  globalPid    demangledName  gridX  ...
//   5000   7000  0         7         11             100 << 24    7              108
//   ns from the session's  lane      of the call in process      id of a text
//   start                            ..._RUNTIME                 in StringIds
//
// Tables exist only where something was recorded, and columns come and go with versions: what is
// missing is taken as not recorded.
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "trace/formats/common/sqlite_file.h"
#include "trace/formats/common/strict.h"
#include "trace/formats/nsys/nsys_import.h"
#include "trace/formats/reader.h"
#include "trace/io/text.h"

namespace foretrace::trace::readers::nsys_sqlite_parts {
namespace {

constexpr std::string_view magic("SQLite format 3\0", 16);

Confidence sniff(std::string_view prefix) {
  return prefix.starts_with(magic) ? Confidence::yes : Confidence::no;
}

// Another program's database: says whose, as far as its tables tell.
Error not_nsys(const ByteSource& source, const formats::SqliteFile& file) {
  std::string list;
  std::size_t listed = 0;
  constexpr std::size_t most_listed = 4;
  bool rocpd = false;
  for (const auto& [table, columns] : file.tables()) {
    rocpd = rocpd || table.starts_with("rocpd_");
    if (listed++ < most_listed) {
      list += fmt::format("{}{}", list.empty() ? "" : ", ", shortened(table, 40));
    }
  }
  const std::string what =
      rocpd ? "looks like a database of rocprofv3 (rocpd): record with --output-format json"
      : list.empty() ? "an SQLite database without tables, expected those of Nsight Systems"
                     : fmt::format(
                           "an SQLite database with the tables {}{}, expected those of "
                           "Nsight Systems (CUPTI_ACTIVITY_KIND_KERNEL, NVTX_EVENTS, ...)",
                           list, listed > most_listed ? ", ..." : "");
  return Error{ErrorCode::bad_format, fmt::format("{}: {}", source.path(), what)};
}

bool is_nsys(const formats::SqliteFile& file) {
  constexpr std::array<std::string_view, 7> tables = {"CUPTI_ACTIVITY_KIND_KERNEL",
                                                      "CUPTI_ACTIVITY_KIND_RUNTIME",
                                                      "NVTX_EVENTS",
                                                      "CUPTI_ACTIVITY_KIND_MEMCPY",
                                                      "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
                                                      "META_DATA_EXPORT",
                                                      "EXPORT_META_DATA"};
  return std::ranges::any_of(tables, [&](std::string_view table) { return file.has_table(table); });
}

Result<LoadedTrace> read(ByteSource& source, const ReadOptions& options) {
  FORETRACE_TRY(auto opened, formats::SqliteFile::open(source));
  formats::SqliteFile& file = *opened;
  if (!is_nsys(file)) return not_nsys(source, file);
  LoadedTrace trace = formats::started(source, "nsys_sqlite");
  trace.report.bytes = file.size();
  if (!source.trouble().empty()) {
    trace.report.warnings.emplace_back(source.trouble());
  }
  formats::NsysImport(file, trace.events, trace.report).run();
  return formats::intact(std::move(trace), source, options, formats::DamageBy::row);
}

}  // namespace

extern constexpr ReaderInfo info = {
    .name = "nsys_sqlite",
    .summary = "SQLite exports of Nsight Systems (nsys export --type sqlite)",
    .suffixes = ".sqlite .sqlite.gz",
    .sniff = sniff,
    .read = read,
};

}  // namespace foretrace::trace::readers::nsys_sqlite_parts
