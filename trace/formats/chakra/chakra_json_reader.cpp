// Reader of the JSON forms of Chakra execution traces: what protobuf prints of a .et file, one
// object after the other,
//
//   {"attr": [{"name": "schema", "stringVal": "1.1.0-chakra.0.0.4"}, ...]}    of the run, first
//   {"id": "2", "name": "aten::add", "type": "COMP_NODE",    a node; whole numbers are texts
//    "ctrlDeps": ["1"], "dataDeps": ["1"],                   ids that it waits for
//    "durationMicros": "7",                                  its time; absent: to be priced
//    "attr": [{"name": "is_cpu_op", "int32Val": 1}, ...]}    host or device, bytes, kind, group
//
// and the list that Chakra's feeder takes: {"workload_graph": [{"Id": 216, "Name": "...",
// "NodeType": 4, "data_deps": [], "runtime": 318, "is_cpu_op": true}, ...]}.
#include <utility>

#include <fmt/format.h>

#include "trace/formats/common/describe_format.h"
#include "trace/formats/common/strict.h"
#include "trace/formats/json/json_cursor.h"
#include "trace/formats/nodes/json_node.h"
#include "trace/formats/reader.h"

namespace foretrace::trace::readers::chakra_json_parts {
namespace {

bool is_metadata(const formats::JsonOutline& outline) {
  for (const std::string& key : outline.keys) {
    if (key != "attr" && key != "version") return false;
  }
  return !outline.keys.empty();
}

Confidence sniff(std::string_view prefix) {
  const formats::JsonOutline outline = formats::outline_of(prefix);
  if (!outline.is_object) return Confidence::no;
  if (formats::has_key(outline, "workload_graph")) return Confidence::yes;
  // The message that describes the run, and nodes behind it.
  const bool stream = outline.complete && is_metadata(outline) && outline.behind.starts_with('{') &&
                      formats::has_key(formats::outline_of(outline.behind), "id");
  return stream ? Confidence::yes : Confidence::no;
}

class Document {
 public:
  Document(ByteSource& source, const ReadOptions& options, LoadedTrace& trace)
      : cursor_(source, options.progress), trace_(trace), builder_(trace), nodes_(builder_) {}

  Status read() {
    take_first();
    while (cursor_.sound() && !cursor_.at_end()) {  // the messages behind the first one
      take_node();
    }
    FORETRACE_TRY(cursor_.source_status());
    cursor_.report_end(trace_.report, fmt::format("{} nodes", trace_.report.events));
    if (trace_.report.events == 0) {
      return Error{
          ErrorCode::bad_format,
          fmt::format("{}: is JSON without nodes of an execution trace", trace_.events.info.path)};
    }
    builder_.finish(schema_);
    return ok_status();
  }

 private:
  void take_first() {
    if (!cursor_.enter('{')) return;
    while (cursor_.next('}')) {
      const std::string key = cursor_.key();
      if (!cursor_.sound()) return;
      if (key == "workload_graph" && cursor_.enter('[')) {
        while (cursor_.next(']')) {
          take_node();
        }
        continue;
      }
      const std::string_view value = cursor_.value(trace_.report);
      if (key == "attr") {
        schema_ = nodes_.schema_of(value);
      }
    }
  }

  void take_node() {
    const std::string_view node = cursor_.value(trace_.report);
    if (!node.empty()) {
      nodes_.add(node, cursor_.offset());
    }
  }

  formats::JsonCursor cursor_;
  LoadedTrace& trace_;
  formats::NodeBuilder builder_;
  formats::JsonNodeReader nodes_;
  std::string schema_;
};

Result<LoadedTrace> read(ByteSource& source, const ReadOptions& options) {
  return formats::read_by<Document>(source, options, "chakra_json");
}

}  // namespace

extern constexpr ReaderInfo info = {
    .name = "chakra_json",
    .summary = "Chakra execution traces as JSON: nodes with dependencies and durations",
    .suffixes = ".json .json.gz",
    .sniff = sniff,
    .read = read,
};

}  // namespace foretrace::trace::readers::chakra_json_parts
