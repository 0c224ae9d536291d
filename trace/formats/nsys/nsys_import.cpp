// Host side of an Nsight Systems export: calls, ranges, threads, overheads, the session.
#include "trace/formats/nsys/nsys_import.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "sim/core/text.h"
#include "trace/formats/common/nsys_names.h"
#include "trace/formats/json/json_check.h"
#include "trace/io/text.h"

namespace foretrace::trace::formats {
namespace {

constexpr std::int64_t id_bits = 24;
constexpr std::int64_t id_mask = (std::int64_t{1} << id_bits) - 1;
// Names of kernels are long, but the output of the program is kept as a string as well.
constexpr std::size_t longest_string = std::size_t{1} << 16;
// A call recorded a second time, with its stack.
constexpr std::int64_t backtrace_class = 67;

// ENUM_NSYS_EVENT_TYPE
enum NvtxType : std::int64_t {
  nvtx_name_thread = 39,
  nvtx_push_pop = 59,
  nvtx_start_end = 60,
  nvtxt_push_pop = 70,
  nvtxt_start_end = 71
};

bool is_memory_call(std::string_view api) {
  return contains(api, "Malloc") || contains(api, "Free") || contains(api, "Alloc");
}

}  // namespace

GlobalThread unpack_global_id(std::int64_t id) {
  return {.process = (id >> id_bits) & id_mask, .thread = id & id_mask};
}

void NsysImport::run() {
  read_strings();
  read_device_ids();
  read_calls();
  read_kernels();
  read_copies();
  read_sets();
  read_graphs();
  read_cuda_events();
  read_syncs();
  read_ranges();
  read_overheads();
  read_memory();
  read_thread_names();
  read_devices();
  read_session();
  warn();
  rows_.finish();
}

void NsysImport::close(const TableScan& scan, std::string_view table) {
  if (!scan.trouble().empty()) {
    report_.warnings.push_back(fmt::format("{}: unreadable after row {}: {}", table, scan.row(),
                                           shortened(scan.trouble())));
    ++report_.events;
    rows_.drop("rest of a damaged table", {.table = table, .number = scan.row() + 1});
  }
}

std::string_view NsysImport::string(std::int64_t id) const {
  const auto found = strings_.find(id);
  return found == strings_.end() ? std::string_view() : std::string_view(found->second);
}

std::int64_t NsysImport::process_of(TableScan& scan, std::size_t column) {
  if (const auto id = scan.integer(column)) return unpack_global_id(*id).process;
  return processes_.size() == 1 ? *processes_.begin() : 0;
}

void NsysImport::read_strings() {
  TableScan scan(file_, "StringIds", {"id", "value"});
  while (scan.next()) {
    if (const auto id = scan.integer(0)) {
      strings_.emplace(*id, scan.text(1).substr(0, longest_string));
    }
  }
  close(scan, "StringIds");
}

void NsysImport::read_calls() {
  constexpr std::string_view table = "CUPTI_ACTIVITY_KIND_RUNTIME";
  TableScan scan(file_, table,
                 {"start", "end", "globalTid", "correlationId", "nameId", "eventClass", "name"});
  std::unordered_map<std::int64_t, NameId> names;
  while (scan.next()) {
    const RowPlace place{.table = table, .number = scan.row(), .offset = 0};
    const auto start = scan.integer(0);
    const auto end = scan.integer(1);
    if (!start || !end) {
      rows_.skip();
      rows_.drop("no time", place);
      continue;
    }
    if (scan.integer_or(5, 0) == backtrace_class) {
      rows_.skip();
      ++repeated_calls_;
      continue;
    }
    const GlobalThread thread = unpack_global_id(scan.integer_or(2, 0));
    const std::int64_t correlation = scan.integer_or(3, 0);
    const std::int64_t name_id = scan.integer_or(4, -1);
    const std::string_view written = name_id < 0 ? scan.text(6) : string(name_id);
    const std::string_view name = plain_api_name(written);
    const auto [known, added] = names.try_emplace(name_id);
    if (added || name_id < 0) {
      known->second = rows_.intern(name, place);
    }
    const TrackId track = rows_.thread(thread.process, thread.thread);
    const bool kept = rows_.add({.kind = EventKind::runtime,
                                 .name = known->second,
                                 .track = track,
                                 .start_ns = *start,
                                 .end_ns = *end,
                                 .scope = thread.process,
                                 .correlation = correlation},
                                place);
    if (!kept) continue;
    processes_.insert(thread.process);
    if (const SyncKind kind = sync_kind_of_call(name); kind != SyncKind::unknown) {
      sync_calls_[{thread.process, correlation}] = kind;
    } else if (is_memory_call(name)) {
      call_tracks_[{thread.process, correlation}] = track;
    }
  }
  close(scan, table);
}

void NsysImport::read_ranges() {
  constexpr std::string_view table = "NVTX_EVENTS";
  TableScan scan(file_, table,
                 {"start", "end", "eventType", "globalTid", "endGlobalTid", "text", "textId"});
  while (scan.next()) {
    const RowPlace place{.table = table, .number = scan.row(), .offset = 0};
    const std::int64_t type = scan.integer_or(2, nvtx_push_pop);
    std::string_view text = scan.text(5);
    if (text.empty()) {
      text = string(scan.integer_or(6, -1));
    }
    if (type == nvtx_name_thread && text.starts_with("MPI Rank ") && table_.info.rank < 0) {
      constexpr std::size_t number_at = 9;
      std::from_chars(text.data() + number_at, text.data() + text.size(), table_.info.rank);
    }
    if (type == nvtx_push_pop || type == nvtx_start_end || type == nvtxt_push_pop ||
        type == nvtxt_start_end) {
      add_range(scan, text, place);
    } else {
      rows_.skip();  // marks, names of domains and categories
    }
  }
  close(scan, table);
}

void NsysImport::add_range(TableScan& scan, std::string_view text, RowPlace place) {
  const auto start = scan.integer(0);
  const auto end = scan.integer(1);
  if (!start || !end) {
    rows_.skip();
    rows_.drop(start ? "range without an end" : "no time", place);
    return;
  }
  const std::int64_t id = scan.integer_or(3, 0);
  const GlobalThread thread = unpack_global_id(id);
  // A range that ends on another thread belongs to neither.
  const bool on_one_thread = scan.integer_or(4, id) == id;
  const NvtxOperator range = parse_nvtx(text.substr(0, longest_string));
  Descriptor descriptor;
  if (!range.sizes.empty() && is_valid_json(range.sizes)) {
    descriptor.dims = table_.names.intern(with_plain_blanks(range.sizes));
  }
  EventRow row{.kind = range.is_operator ? EventKind::cpu_op : EventKind::user_annotation,
               .name = rows_.intern(range.name, place),
               .track = on_one_thread ? rows_.thread(thread.process, thread.thread)
                                      : rows_.other(thread.process, thread.thread),
               .start_ns = *start,
               .end_ns = *end,
               .scope = thread.process,
               .correlation = 0,
               .descriptor = rows_.intern(descriptor)};
  if (!on_one_thread) {
    row.kind = EventKind::other;
  }
  if (rows_.add(row, place) && range.number >= 0) {
    rows_.add_sequence_number(range.number, -1);
  }
}

void NsysImport::read_overheads() {
  for (const std::string_view table : {"PROFILER_OVERHEAD", "CUPTI_ACTIVITY_KIND_OVERHEAD"}) {
    TableScan scan(file_, table, {"start", "end", "globalTid", "nameId", "overheadType"});
    while (scan.next()) {
      const RowPlace place{.table = table, .number = scan.row(), .offset = 0};
      const auto start = scan.integer(0);
      const auto end = scan.integer(1);
      if (!start || !end) {
        rows_.skip();
        rows_.drop("no time", place);
        continue;
      }
      const GlobalThread thread = unpack_global_id(scan.integer_or(2, 0));
      const std::string_view known = overhead_name(scan.integer_or(4, 0));
      const std::string_view name = known.empty() ? string(scan.integer_or(3, -1)) : known;
      rows_.add({.kind = EventKind::overhead,
                 .name = rows_.intern(name, place),
                 .track = rows_.other(thread.process, thread.thread),
                 .start_ns = *start,
                 .end_ns = *end},
                place);
    }
    close(scan, table);
  }
}

void NsysImport::read_thread_names() {
  std::map<std::pair<std::int64_t, std::int64_t>, TrackId> threads;
  for (std::size_t i = 0; i < table_.tracks.size(); ++i) {
    const Track& track = table_.tracks[i];
    if (track.kind == Track::Kind::host_thread) {
      threads[{track.process, track.number}] = make_id<TrackId>(i);
    }
  }
  TableScan scan(file_, "ThreadNames", {"globalTid", "nameId"});
  while (scan.next()) {
    const GlobalThread thread = unpack_global_id(scan.integer_or(0, 0));
    const auto found = threads.find({thread.process, thread.thread});
    if (found != threads.end()) {
      rows_.name_track(found->second, string(scan.integer_or(1, -1)));
    }
  }
  close(scan, "ThreadNames");
}

void NsysImport::read_session() {
  TableScan scan(file_, "TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"});
  if (scan.next()) {
    constexpr std::int64_t latest = std::int64_t{1} << 61;
    table_.info.base_time_ns = std::clamp<std::int64_t>(scan.integer_or(0, 0), 0, latest);
  }
}

void NsysImport::warn() {
  if (repeated_calls_ > 0) {
    report_.warnings.push_back(
        fmt::format("{} calls are recorded twice, once with their stack; one of each is kept",
                    repeated_calls_));
  }
  const std::vector<std::int64_t> processes = rows_.device_processes();
  if (processes.size() < 2) return;
  std::string list;
  constexpr std::size_t most_listed = 8;
  for (std::size_t i = 0; i < std::min(processes.size(), most_listed); ++i) {
    list += fmt::format("{}{}", i == 0 ? "" : ", ", processes[i]);
  }
  report_.warnings.push_back(
      fmt::format("{} processes use devices ({}{}): each counts as a rank, in this order",
                  processes.size(), list, processes.size() > most_listed ? ", ..." : ""));
}

}  // namespace foretrace::trace::formats
