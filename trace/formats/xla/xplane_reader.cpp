// Reader of XPlane protobufs (*.xplane.pb), the profiles of JAX, TensorFlow and PyTorch/XLA.
//
//   XPlane "/device:GPU:0"                                  a device, or the host's threads
//     XLine { name: "Stream #17", timestamp_ns: 1000 }      a lane; events count from here
//       XEvent { metadata_id: 3,                            name, of the plane's event_metadata
//                offset_ps: 2000000,                        starts at 1000 + 2000 ns
//                duration_ps: 500000 }                      500 ns
//         XStat { metadata_id: 5, uint64: 11 }              as "correlation_id", by stat_metadata
//
// The numbers of the fields are in xspace.h, what becomes of them in xplane_import.h.
#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "sim/core/text.h"
#include "trace/formats/common/protobuf_wire.h"
#include "trace/formats/common/read_all.h"
#include "trace/formats/common/strict.h"
#include "trace/formats/reader.h"
#include "trace/formats/xla/xplane_import.h"

namespace foretrace::trace::readers::xplane_parts {
namespace {

// Protobuf itself allows 2 GiB.
constexpr std::uint64_t most_bytes = std::uint64_t{2} << 30;
constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

bool names_plane(std::string_view text) {
  return contains(text, "/host:") || contains(text, "/device:");
}

// Bytes above 0x7F that became U+FFFD: no number is left whole.
bool was_taken_for_text(std::string_view prefix) {
  std::size_t replaced = 0;
  constexpr std::size_t enough = 4;
  constexpr std::size_t looked_at = 4096;
  prefix = prefix.substr(0, looked_at);
  for (std::size_t at = prefix.find(replacement); at != std::string_view::npos;
       at = prefix.find(replacement, at + replacement.size())) {
    ++replaced;
  }
  return replaced >= enough;
}

// The first field of a space is a plane, and of a plane its number or its name.
Confidence sniff(std::string_view prefix) {
  constexpr char plane_key = 0x0A;
  constexpr std::size_t names_are_within = 64;
  if (prefix.size() < 4 || prefix[0] != plane_key ||
      !names_plane(prefix.substr(0, names_are_within))) {
    return Confidence::no;
  }
  if (was_taken_for_text(prefix)) {
    return Confidence::yes;  // to say so
  }
  std::size_t at = 1;
  const bool starts = formats::varint_at(prefix, at).has_value() && at < prefix.size() &&
                      (prefix[at] == 0x08 || prefix[at] == 0x12);
  return starts ? Confidence::yes : Confidence::no;
}

Result<LoadedTrace> read(ByteSource& source, const ReadOptions& options) {
  FORETRACE_TRY(auto bytes, formats::read_all(source, {}, most_bytes));
  if (was_taken_for_text(bytes)) {
    return Error{ErrorCode::bad_format,
                 fmt::format("{}: looks like an XPlane protobuf that was stored as text, which "
                             "replaced its bytes above 127 by U+FFFD; fetch it again as binary",
                             source.path())};
  }
  LoadedTrace trace = formats::started(source, "xplane");
  trace.report.bytes = bytes.size();
  if (!source.trouble().empty()) {
    trace.report.ends_early = true;
    trace.report.warnings.emplace_back(source.trouble());
  }
  formats::XplaneImport(trace.events, trace.report).run(bytes);
  return formats::intact(std::move(trace), source, options, formats::DamageBy::row);
}

}  // namespace

extern constexpr ReaderInfo info = {
    .name = "xplane",
    .summary = "XPlane protobufs: profiles of JAX, TensorFlow and PyTorch/XLA",
    .suffixes = ".xplane.pb .xplane.pb.gz",
    .sniff = sniff,
    .read = read,
};

}  // namespace foretrace::trace::readers::xplane_parts
