// Reading graphs of nodes in tests, through the reader of a name and through the common door.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "trace/formats/reader.h"

namespace foretrace::trace {

[[nodiscard]] inline const ReaderInfo& reader_called(std::string_view name) {
  for (const ReaderInfo* reader : readers::all()) {
    if (reader->name == name) {
      return *reader;
    }
  }
  FAIL("there is no reader called " << std::string(name));
  return *readers::all().front();
}

[[nodiscard]] inline Result<LoadedTrace> read_bytes(std::string_view reader, std::string_view bytes,
                                                    const ReadOptions& options = {}) {
  const auto source = open_memory(bytes, "t");
  return reader_called(reader).read(*source, options);
}

/// A fixture, found by its content.
[[nodiscard]] inline LoadedTrace read_file_of(const std::string& folder, const std::string& name) {
  auto loaded = read_trace(FORETRACE_SOURCE_DIR "/tests/fixtures/" + folder + "/" + name, {});
  REQUIRE_MESSAGE(loaded.ok(), loaded.error().message);
  CHECK(loaded->events.info.format == folder);
  return std::move(loaded).value();
}

[[nodiscard]] inline std::string_view node_name(const LoadedTrace& trace, std::size_t row) {
  return trace.events.names[trace.nodes()->name[row]];
}

/// Recorded ids of what a node waits for by data.
[[nodiscard]] inline std::vector<std::uint64_t> data_of(const NodeGraph& nodes, std::size_t row) {
  std::vector<std::uint64_t> ids;
  for (std::uint32_t i = nodes.data_offsets[row]; i < nodes.data_offsets[row + 1]; ++i) {
    ids.push_back(nodes.id[static_cast<std::size_t>(nodes.data[i])]);
  }
  return ids;
}

/// How often this reason was counted.
[[nodiscard]] inline std::uint64_t counted(const ImportReport& report, std::string_view reason) {
  for (const Damage& damage : report.damage) {
    if (damage.reason == reason) {
      return damage.count;
    }
  }
  return 0;
}

}  // namespace foretrace::trace
