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
#include "trace/formats/chrome/table_builder.h"
#include "trace/formats/chrome/trace_info.h"
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
  LoadedTrace trace;
  EventTable& table = trace.events;
  table.info.format = "xla_trace_json";
  table.info.path = std::string(source.path());
  formats::TableBuilder builder(table, trace.report);
  formats::DocumentWalker document(source, options, trace.report, builder);
  FORETRACE_TRY(document.walk());
  formats::fill_trace_info(document.values(), table.info, trace.report);
  builder.finish();
  formats::classify_xla(table, builder.process_names(), trace.report);
  return formats::intact(std::move(trace), source, options, formats::DamageBy::row);
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
