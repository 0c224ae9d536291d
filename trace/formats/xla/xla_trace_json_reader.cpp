// Reader of the JSON that XLA's profiler writes for trace viewers (*.trace.json.gz).
//
//   {"displayTimeUnit":"ns","metadata":{"highres-ticks":true},"traceEvents":[
//     {"ph":"M","pid":701,"name":"process_name",     names of processes and threads tell host from
//      "args":{"name":"/host:CPU"}}, ...             device, and streams from what is derived
//     {"ph":"X","pid":701,"tid":383,                 its process and thread
//      "ts":7771428.338,"dur":78.356,                microseconds
//      "name":"dce"}, ..., {}]}                      no category; an empty event ends the list
//
// What the names mean is as in an XPlane (xplane_import.h).
#include <string>
#include <utility>

#include "trace/formats/chrome/document.h"
#include "trace/formats/common/strict.h"
#include "trace/formats/reader.h"
#include "trace/formats/xla/xla_events.h"
#include "trace/formats/xla/xla_trace.h"

namespace foretrace::trace::readers::xla_trace_json_parts {
namespace {

Confidence sniff(std::string_view prefix) {
  return formats::is_xla_trace(prefix) ? Confidence::yes : Confidence::no;
}

Result<LoadedTrace> read(ByteSource& source, const ReadOptions& options) {
  FORETRACE_TRY(formats::ChromeDocument found,
                formats::read_chrome(source, options, "xla_trace_json"));
  formats::classify_xla(found.trace.events, found.process_names, found.trace.report);
  return formats::intact(std::move(found.trace), source, options, formats::DamageBy::row);
}

}  // namespace

extern constexpr ReaderInfo info = {
    .name = "xla_trace_json",
    .summary = "trace.json.gz of JAX, TensorFlow and other users of XLA",
    .suffixes = ".trace.json .trace.json.gz",
    .sniff = sniff,
    .read = read,
};

}  // namespace foretrace::trace::readers::xla_trace_json_parts
