// Reader of the JSON traces of PyTorch (Kineto) and of other writers of the Chrome trace format.
//
//   {"schemaVersion": 1, "deviceProperties": [...], "traceEvents": [
//     {"ph": "X", "cat": "kernel",              "X": has a duration; the category says what it is
//      "name": "gemm", "pid": 0, "tid": 7,      of a kernel: device and stream; of a call: process
//                                               and thread
//      "ts": 7656582822106.115, "dur": 7.581,   microseconds, read as text: a double loses ns
//      "args": {"External id": 514,             the operator around it
//               "correlation": 101, ...}},      the call that launched it
//
// also as a bare list of events.
#include <utility>

#include "trace/formats/chrome/document.h"
#include "trace/formats/chrome/trace_info.h"
#include "trace/formats/common/describe_format.h"
#include "trace/formats/common/event_category.h"
#include "trace/formats/common/strict.h"
#include "trace/formats/kineto/environment.h"
#include "trace/formats/reader.h"
#include "trace/formats/xla/xla_trace.h"

namespace foretrace::trace::readers::kineto_json_parts {
namespace {

Confidence sniff(std::string_view prefix) {
  if (formats::is_xla_trace(prefix)) {
    return Confidence::no;  // has a reader of its own
  }
  const formats::JsonOutline outline = formats::outline_of(prefix);
  if (outline.is_array && !formats::has_key(outline, "ph")) return Confidence::no;
  if (outline.is_array) {
    return formats::has_profiler_category(prefix) ? Confidence::yes : Confidence::maybe;
  }
  if (!outline.is_object) return Confidence::no;
  const bool kineto =
      formats::has_key(outline, "deviceProperties") && formats::has_key(outline, "schemaVersion");
  const bool events = formats::has_key(outline, "traceEvents");
  if (events && !formats::has_key(outline, "schemaVersion") &&
      !formats::has_key(outline, "deviceProperties")) {
    return formats::has_profiler_category(prefix) ? Confidence::yes : Confidence::maybe;
  }
  if (events || (kineto && !outline.complete)) return Confidence::yes;
  return outline.complete ? Confidence::no : Confidence::maybe;
}

Result<LoadedTrace> read(ByteSource& source, const ReadOptions& options) {
  FORETRACE_TRY(formats::ChromeDocument found,
                formats::read_chrome(source, options, "kineto_json"));
  formats::fill_environment(found.values, found.trace.events.info);
  formats::list_renumbered_devices(found.trace.events);
  return formats::intact(std::move(found.trace), source, options, formats::DamageBy::byte);
}

}  // namespace

extern constexpr ReaderInfo info = {
    .name = "kineto_json",
    .summary = "PyTorch profiler (Kineto) traces of 2020-2026, and Chrome traces in general",
    .suffixes = ".json .json.gz",
    .sniff = sniff,
    .read = read,
};

}  // namespace foretrace::trace::readers::kineto_json_parts
