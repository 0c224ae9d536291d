// Reader of PyTorch's execution traces (ExecutionTraceObserver), schemas 1.0.1 to 1.1.1:
//
//   {"schema": "1.0.1", "pid": 1, "time": "...", "start_ts": 69838573, "nodes": [
//     {"name": "aten::add", "id": 36,              an operator; nodes have no times
//      "rf_id": 22,                                "Record function id" of the Kineto trace
//      "parent": 35, ...,                          the operator that called it
//      "inputs": [[19, 14, 0, 64, 8, "cpu"], 1],   a tensor: id, storage, offset, elements, bytes
//                                                  of each, device; or a plain value
//      "input_shapes": [[64], []], "input_types": ["Tensor(float)", "Int"], ...}, ...]}
//
// from 1.0.2 on with "ctrl_deps" for the parent, nested "inputs" {"values", "shapes", "types"} and
// "attrs" for the rest.

#include <fmt/format.h>

#include "trace/formats/common/describe_format.h"
#include "trace/formats/common/strict.h"
#include "trace/formats/json/json_cursor.h"
#include "trace/formats/nodes/json_node.h"
#include "trace/formats/reader.h"
#include "trace/io/text.h"

namespace foretrace::trace::readers::pytorch_et_parts {
namespace {

Confidence sniff(std::string_view prefix) {
  const formats::JsonOutline outline = formats::outline_of(prefix);
  const bool execution =
      outline.is_object && formats::has_key(outline, "schema") &&
      (formats::has_key(outline, "nodes") ||
       (formats::has_key(outline, "pid") && formats::has_key(outline, "start_ts")));
  return execution && !formats::has_key(outline, "traceEvents") ? Confidence::yes : Confidence::no;
}

class Document {
 public:
  Document(ByteSource& source, const ReadOptions& options, LoadedTrace& trace)
      : cursor_(source, options.progress), trace_(trace), builder_(trace), nodes_(builder_) {}

  Status read() {
    if (cursor_.enter('{')) {
      while (cursor_.next('}')) {
        const std::string key = cursor_.key();
        if (!cursor_.sound()) break;
        take(key);
      }
    }
    FORETRACE_TRY(cursor_.source_status());
    if (!found_nodes_) {
      return Error{ErrorCode::bad_format,
                   fmt::format("{}: {}", trace_.events.info.path,
                               cursor_.cut_off() ? "ends before any \"nodes\""
                                                 : "is JSON without a list of \"nodes\"")};
    }
    cursor_.report_end(trace_.report, fmt::format("{} nodes", trace_.report.events));
    builder_.finish(schema_);
    mark_roots();
    return ok_status();
  }

 private:
  void take(std::string_view key) {
    if (key == "nodes" && cursor_.enter('[')) {
      found_nodes_ = true;
      while (cursor_.next(']')) {
        const std::string_view node = cursor_.value(trace_.report);
        if (!node.empty()) {
          nodes_.add(node, cursor_.offset());
        }
      }
      return;
    }
    const std::string_view value = cursor_.value(trace_.report);
    if (key == "schema" && value.size() >= 2 && value.front() == '"') {
      schema_ = shortened(unescaped(value.substr(1, value.size() - 2)), 60);
    }
  }

  // "[pytorch|profiler|execution_trace|process]" and its threads hold the others.
  void mark_roots() {
    auto& graph = std::get<NodeGraph>(trace_.content);
    for (std::size_t i = 0; i < graph.size(); ++i) {
      graph.place[i] = NodePlace::host;
      if (trace_.events.names[graph.name[i]].starts_with("[pytorch|profiler|execution_trace|")) {
        graph.kind[i] = NodeKind::metadata;
      }
    }
  }

  formats::JsonCursor cursor_;
  LoadedTrace& trace_;
  formats::NodeBuilder builder_;
  formats::JsonNodeReader nodes_;
  std::string schema_;
  bool found_nodes_ = false;
};

Result<LoadedTrace> read(ByteSource& source, const ReadOptions& options) {
  return formats::read_by<Document>(source, options, "pytorch_et");
}

}  // namespace

extern constexpr ReaderInfo info = {
    .name = "pytorch_et",
    .summary = "PyTorch execution traces: operators with tensors, without times",
    .suffixes = ".json .json.gz",
    .sniff = sniff,
    .read = read,
};

}  // namespace foretrace::trace::readers::pytorch_et_parts
