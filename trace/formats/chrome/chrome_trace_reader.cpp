// Reader of Chrome traces that are not PyTorch's: TensorFlow, MXNet, BytePS.
//
//   [{"ph": "M", "name": "process_name", "pid": 0,    what a track is called: here a tensor; device
//     "args": {"name": "conv1_1_weight"}},            work by its name, see below
//    {"ph": "B", "pid": 0, "ts": 2335011,             begins, microseconds; track = pid and tid
//     "name": "INITCOMMUNICATION"},
//    {"ph": "E", "pid": 0, "ts": 2340052, ...},       ends what began last on its track
//
// also never closed, with one "process" per tensor, and with events named only at their begin.
// The most general of the readers: it comes last. Device work is recognized by the names that
// TensorFlow ("/device:GPU:0/stream:22 Compute") and MXNet ("gpu/0") give to its tracks.
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/core/text.h"
#include "trace/formats/chrome/document.h"
#include "trace/formats/common/describe_format.h"
#include "trace/formats/common/event_category.h"
#include "trace/formats/common/strict.h"
#include "trace/formats/reader.h"
#include "trace/io/text.h"

namespace foretrace::trace::readers::chrome_trace_parts {
namespace {

Confidence sniff(std::string_view prefix) {
  const formats::JsonOutline outline = formats::outline_of(prefix);
  const bool list = outline.is_array && formats::has_key(outline, "ph");
  const bool document = outline.is_object && formats::has_key(outline, "traceEvents") &&
                        !formats::has_key(outline, "schemaVersion") && contains(prefix, "\"ph\"");
  if ((!list && !document) || formats::has_profiler_category(prefix)) return Confidence::no;
  return Confidence::maybe;
}

// Device and stream that the name of a track speaks of.
struct StreamName {
  std::int32_t device = 0;
  std::int64_t stream = 0;
  bool all_streams = false;  ///< "stream:all": every operation once more
};

std::optional<std::int64_t> number_behind(std::string_view text, std::string_view word) {
  const std::size_t at = text.find(word);
  if (at == std::string_view::npos) return std::nullopt;
  std::int64_t number = 0;
  const char* const first = text.data() + at + word.size();
  const auto [behind, error] = std::from_chars(first, text.data() + text.size(), number);
  return error == std::errc() && number >= 0 && number < 1'000'000 ? std::optional(number)
                                                                   : std::nullopt;
}

std::optional<StreamName> stream_name(std::string_view name) {
  if (name.starts_with("gpu/")) {
    const auto device = number_behind(name, "gpu/");
    return device ? std::optional(StreamName{static_cast<std::int32_t>(*device), 0, false})
                  : std::nullopt;
  }
  const auto device = number_behind(name, "device:GPU:");
  const bool all = contains(name, "stream:all");
  const auto stream = number_behind(name, "stream:");
  if (!device || (!stream && !all)) return std::nullopt;
  return StreamName{static_cast<std::int32_t>(*device), stream.value_or(0), all};
}

// Tracks without a name of their own get that of their process: here often the only one.
void name_by_process(EventTable& table, const std::map<std::int64_t, std::string>& names) {
  for (Track& track : table.tracks) {
    const auto name = names.find(track.process);
    if (track.name == NameId{} && name != names.end()) {
      track.name = table.names.intern(is_valid_utf8(name->second) ? name->second
                                                                  : with_valid_utf8(name->second));
    }
  }
}

// Turns events on tracks that are streams by name into device work.
void recognize_streams(EventTable& table) {
  std::vector<std::optional<StreamName>> streams;
  bool numbered = false;
  for (const Track& track : table.tracks) {
    streams.push_back(stream_name(table.names[track.name]));
    numbered = numbered || (streams.back() && !streams.back()->all_streams);
  }
  for (std::size_t i = 0; i < streams.size(); ++i) {
    if (streams[i] && (!streams[i]->all_streams || !numbered)) {
      table.tracks[i].kind = Track::Kind::stream;
      table.tracks[i].device = streams[i]->device;
      table.tracks[i].number = streams[i]->stream;
    }
  }
  for (std::size_t row = 0; row < table.size(); ++row) {
    const std::size_t track = index(table.track[row]);
    if (table.tracks[track].kind != Track::Kind::stream) continue;
    const std::string_view name = table.names[table.name[row]];
    const bool copies = name.starts_with("Memcpy") || name.starts_with("MEMCPY");
    table.kind[row] = copies ? EventKind::copy : EventKind::kernel;
  }
}

Result<LoadedTrace> read(ByteSource& source, const ReadOptions& options) {
  FORETRACE_TRY(formats::ChromeDocument found,
                formats::read_chrome(source, options, "chrome_trace"));
  name_by_process(found.trace.events, found.process_names);
  recognize_streams(found.trace.events);
  return formats::checked(std::move(found.trace), source, options);
}

}  // namespace

extern constexpr ReaderInfo info = {
    .name = "chrome_trace",
    .summary = "Chrome traces of TensorFlow, MXNet, BytePS",
    .suffixes = ".json .json.gz",
    .sniff = sniff,
    .read = read,
};

}  // namespace foretrace::trace::readers::chrome_trace_parts
