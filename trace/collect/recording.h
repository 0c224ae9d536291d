// All records of one file, and the table of events they say.
#pragma once

#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "trace/collect/record.h"
#include "trace/ftr/container.h"
#include "trace/ftr/texts.h"
#include "trace/table/loaded_trace.h"

namespace foretrace::trace::collector {

struct Recording {
  ftr::Pairs facts;                ///< about the program and its machine
  std::vector<std::string> texts;  ///< by TextNumber; 0 is the empty one
  std::vector<ApiRecord> apis;
  std::vector<KernelRecord> kernels;
  std::vector<CopyRecord> copies;
  std::vector<SetRecord> sets;
  std::vector<SynchronizationRecord> synchronizations;
  std::vector<EventRecord> events;
  std::vector<GraphRecord> graphs;
  std::vector<StreamRecord> streams;
  std::vector<ContextRecord> contexts;
  std::vector<MemoryRecord> memory;
  std::vector<RangeRecord> ranges;
  std::vector<ExternalRecord> externals;
  std::vector<OverheadRecord> overheads;
  std::vector<DeviceRecord> devices;
  std::vector<ClockRecord> clocks;
  std::vector<ThreadRecord> threads;
  std::vector<DropRecord> drops;
};

/// Every list of records, to be handled alike.
template <typename R>
[[nodiscard]] auto lists_of(R& r) {
  return std::tie(r.apis, r.kernels, r.copies, r.sets, r.synchronizations, r.events, r.graphs,
                  r.streams, r.contexts, r.memory, r.ranges, r.externals, r.overheads, r.devices,
                  r.clocks, r.threads, r.drops);
}

/// Takes the records out of checked chunks; damaged ones are counted.
[[nodiscard]] Recording read_recording(std::span<const ftr::Chunk> chunks, std::uint64_t file_bytes,
                                       ftr::Pairs facts, ImportReport& report);

/// What a recording says of its program and machine at its head and at its end, read without its
/// records. Empty if the file cannot be read or is none.
[[nodiscard]] ftr::Pairs facts_of_file(const std::string& path);

/// Turns records into events on one time axis, the clock of the machine since 1970. What cannot be
/// used is counted in the report.
void fill_table(const Recording& recording, LoadedTrace& trace);

}  // namespace foretrace::trace::collector
