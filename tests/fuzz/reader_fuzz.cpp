// Feeds any bytes to every reader: nothing may crash, and what was read must be consistent.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "sim/engine/memory/memory_tracker.h"
#include "sim/engine/pull/pull.h"
#include "trace/assemble/build_graph.h"
#include "trace/formats/reader.h"
#include "trace/nodes/storages/memory_graph.h"

namespace {

using foretrace::EventId;
using foretrace::index;
using foretrace::make_id;
using foretrace::trace::EventTable;

// What every consumer of a table relies on.
void require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

void check_rows(const EventTable& table) {
  const std::size_t rows = table.size();
  require(table.name.size() == rows && table.track.size() == rows &&
          table.start_ns.size() == rows && table.duration_ns.size() == rows &&
          table.correlation.size() == rows && table.external_id.size() == rows &&
          table.descriptor.size() == rows);
  for (std::size_t row = 0; row < rows; ++row) {
    const auto event = make_id<EventId>(row);
    require(index(table.name[row]) < table.names.size());
    require(index(table.track[row]) < table.tracks.size());
    require(index(table.descriptor[row]) < table.descriptors.size());
    require(table.start_ns[row] >= 0 && table.duration_ns[row] >= 0);
    require(table.end_ns(event) >= table.start_ns[row]);
  }
}

void check_side_tables(const EventTable& table) {
  for (const auto& sync : table.syncs) {
    require(sync.start_ns >= 0 && sync.duration_ns >= 0);
  }
  for (const auto& flow : table.flows) {
    require(flow.time_ns >= 0 && index(flow.track) < table.tracks.size());
  }
  for (const auto& memory : table.memory) {
    require(memory.time_ns >= 0 && index(memory.track) < table.tracks.size());
  }
  for (const auto& call : table.record_functions) {
    require(index(call.event) < table.size());
  }
  for (std::size_t i = 0; i < table.sequence_numbers.size(); ++i) {
    require(index(table.sequence_numbers[i].event) < table.size());
    require(i == 0 || table.sequence_numbers[i - 1].event < table.sequence_numbers[i].event);
  }
  for (const auto& track : table.tracks) {
    require(index(track.name) < table.names.size());
  }
  for (const auto& descriptor : table.descriptors) {
    require(index(descriptor.text) < table.names.size());
    require(index(descriptor.dims) < table.names.size());
  }
}

// What is built from nodes relies on rows that exist and offsets that ascend.
void check_nodes(const foretrace::trace::LoadedTrace& trace) {
  const auto& nodes = *trace.nodes();
  require(nodes.data_offsets.size() == nodes.size() + 1);
  require(nodes.control_offsets.size() == nodes.size() + 1);
  for (const auto source : nodes.data) {
    require(index(source) < nodes.size());
  }
  for (const auto& tensor : nodes.tensors) {
    require(index(tensor.node) < nodes.size() && tensor.elements >= 0);
  }
  for (std::size_t i = 1; i < nodes.size(); ++i) {
    require(nodes.id[i - 1] < nodes.id[i]);
  }
  static_cast<void>(foretrace::trace::build_graph(trace));
  const auto tensors = foretrace::trace::build_memory_graph(trace.events, nodes);
  if (!tensors.ok()) {
    return;
  }
  for (const auto& curve : foretrace::track_memory(tensors->graph, simulate(tensors->graph))) {
    require(curve.base_bytes >= 0 && curve.end_bytes >= 0);
    for (const auto& point : curve.points) {
      require(point.live_bytes >= 0);
    }
  }
}

void check_memory(const foretrace::trace::MemoryTimeline& memory) {
  require(memory.bytes.size() == memory.size() * memory.categories.size());
  require(memory.reserved.empty() || memory.reserved.size() == memory.size());
  static_cast<void>(memory.peak());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const foretrace::trace::ReaderInfo* reader : foretrace::trace::readers::all()) {
    static_cast<void>(reader->sniff(bytes));
    const auto source = foretrace::trace::open_memory(bytes, "fuzz");
    const auto loaded = reader->read(*source, {});
    if (!loaded) {
      require(loaded.error().message.find('\n') == std::string_view::npos);
      continue;
    }
    const auto& report = loaded->report;
    require(report.kept <= report.events);
    check_rows(loaded->events);
    check_side_tables(loaded->events);
    if (loaded->nodes() != nullptr) {
      check_nodes(*loaded);
    }
    if (loaded->memory() != nullptr) {
      check_memory(*loaded->memory());
    }
  }
  return 0;
}
