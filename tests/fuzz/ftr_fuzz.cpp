// Makes .ftr files with right checksums out of any bytes, so that what lies behind the checksums is
// reached: nothing may crash, and what was read must be consistent and can be written again.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "trace/formats/reader.h"
#include "trace/formats/writer.h"
#include "trace/ftr/container.h"
#include "trace/ftr/texts.h"

namespace {

using foretrace::index;
using foretrace::trace::EventTable;
using foretrace::trace::ftr::ChunkKind;

void require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

// The first byte chooses table or records; then chunks: kind, size (2 bytes), payload.
std::string file_of(std::string_view bytes) {
  const bool table = bytes.empty() || (static_cast<unsigned char>(bytes.front()) & 1U) == 0;
  std::string file = foretrace::trace::ftr::head();
  std::uint32_t ordinal = 0;
  file += foretrace::trace::ftr::chunk(
      ChunkKind::info, ordinal++,
      foretrace::trace::ftr::put_pairs({{"content", table ? "table" : "records"}}));
  bytes.remove_prefix(bytes.empty() ? 0 : 1);
  while (bytes.size() > 3) {
    const auto kind = static_cast<ChunkKind>(static_cast<unsigned char>(bytes[0]));
    const std::size_t size = static_cast<unsigned char>(bytes[1]) +
                             std::size_t{256} * static_cast<unsigned char>(bytes[2]);
    bytes.remove_prefix(3);
    file += foretrace::trace::ftr::chunk(kind, ordinal++, bytes.substr(0, size));
    bytes.remove_prefix(std::min(size, bytes.size()));
  }
  return file;
}

void check(const EventTable& table) {
  for (std::size_t row = 0; row < table.size(); ++row) {
    require(index(table.name[row]) < table.names.size());
    require(index(table.track[row]) < table.tracks.size());
    require(index(table.descriptor[row]) < table.descriptors.size());
    require(table.start_ns[row] >= 0 && table.duration_ns[row] >= 0);
    require(table.kind[row] <= foretrace::trace::EventKind::other);
  }
  for (const auto& call : table.record_functions) {
    require(index(call.event) < table.size());
  }
  for (std::size_t i = 0; i < table.sequence_numbers.size(); ++i) {
    require(index(table.sequence_numbers[i].event) < table.size());
    require(i == 0 || table.sequence_numbers[i - 1].event < table.sequence_numbers[i].event);
  }
  for (const auto& sync : table.syncs) {
    require(sync.start_ns >= 0 && sync.duration_ns >= 0);
  }
  for (const auto& flow : table.flows) {
    require(flow.time_ns >= 0 && index(flow.track) < table.tracks.size());
  }
  for (const auto& memory : table.memory) {
    require(memory.time_ns >= 0 && index(memory.track) < table.tracks.size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string file = file_of({reinterpret_cast<const char*>(data), size});
  for (const auto* reader : foretrace::trace::readers::all()) {
    if (reader->name != "ftr") {
      continue;
    }
    const auto source = foretrace::trace::open_memory(file, "fuzz");
    const auto loaded = reader->read(*source, {});
    if (!loaded) {
      require(loaded.error().message.find('\n') == std::string_view::npos);
      continue;
    }
    require(loaded->report.kept <= loaded->report.events);
    check(loaded->events);
    if (loaded->events.size() > 10'000) {
      continue;
    }
    for (const auto* writer : foretrace::trace::writers::all()) {
      if (writer->name == "ftr" || writer->name == "kineto_json") {
        const auto written = writer->write(*loaded, [](std::string_view) { return true; });
        require(written.ok());
      }
    }
  }
  return 0;
}
