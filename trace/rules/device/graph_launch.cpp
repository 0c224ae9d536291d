// Graph launches: one call, hundreds of operations on streams of their own. The first operation of
// each stream waits for the stream that the thread used last; the next operation on that stream
// waits for the last operation of every stream of the graph.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "trace/rules/assembly/assembly.h"
#include "trace/rules/assembly/constants.h"
#include "trace/rules/assembly/rule.h"

namespace foretrace::trace::rules::graph_launch_parts {
namespace {

/// First and last operation per stream of one call, in stream order of appearance.
struct Ends {
  std::uint32_t stream = 0;
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

std::vector<Ends> ends_of(const Assembly& assembly, const HostCall& call) {
  std::vector<Ends> list;
  for (std::uint32_t i = call.first_op; i < call.first_op + call.op_count; ++i) {
    const std::uint32_t stream = assembly.ops[i].stream;
    const auto at = std::find_if(list.begin(), list.end(),
                                 [&](const Ends& ends) { return ends.stream == stream; });
    if (at == list.end()) {
      list.push_back({stream, i, i});
    } else {
      at->last = i;
    }
  }
  return list;
}

/// Adds source_op -> op unless the trace contradicts it.
void add(Assembly& assembly, std::uint32_t op, std::uint32_t source_op, std::uint32_t at) {
  if (assembly.ops[op].stream == assembly.ops[source_op].stream) return;
  if (assembly.ops[source_op].end_ns > assembly.ops[op].start_ns + source_tolerance_ns) {
    ++assembly.honesty.contradicted_edges;
    return;
  }
  assembly.sources.push_back(
      {.op = op, .source_op = source_op, .origin = EdgeOrigin::graph, .at = at});
  ++assembly.honesty.edges_by_origin[static_cast<std::size_t>(EdgeOrigin::graph)];
}

/// A graph whose work must be done before the next operation of its launching stream.
struct Open {
  std::uint32_t stream = nothing;
  std::vector<Ends> ends;
};

void close_on(Assembly& assembly, std::vector<Open>& open, std::uint32_t op) {
  const DeviceOp& waiting = assembly.ops[op];
  std::erase_if(open, [&](const Open& graph) {
    if (graph.stream != waiting.stream) return false;
    for (const Ends& ends : graph.ends) {
      add(assembly, op, ends.last, assembly.calls[waiting.call].position);
    }
    return true;
  });
}

void join_graphs(Assembly& assembly) {
  std::vector<Open> open;
  for (const Item& item : assembly.items) {
    if (item.kind == Item::Kind::op && assembly.ops[item.index].call != nothing) {
      close_on(assembly, open, item.index);
      continue;
    }
    if (item.kind != Item::Kind::call ||
        assembly.calls[item.index].kind != CallKind::graph_launch) {
      continue;
    }
    const HostCall& call = assembly.calls[item.index];
    if (call.used_stream == nothing) continue;
    const std::vector<Ends> ends = ends_of(assembly, call);
    const std::uint32_t tail = assembly.tail(call.used_stream, call.position);
    if (tail != nothing) {
      for (const Ends& row : ends) {
        add(assembly, row.first, tail, call.position);
      }
    }
    // Graphs launched one after the other on a stream follow each other as well.
    for (const Open& earlier : open) {
      if (earlier.stream == call.used_stream) {
        for (const Ends& source : earlier.ends) {
          for (const Ends& row : ends) {
            add(assembly, row.first, source.last, call.position);
          }
        }
      }
    }
    std::erase_if(open, [&](const Open& graph) { return graph.stream == call.used_stream; });
    open.push_back({call.used_stream, ends});
  }
}

}  // namespace

extern constexpr Rule info = {
    .name = "graph_launch",
    .doc = "operations of a CUDA graph follow the launching stream, and its next work follows them",
    .apply = join_graphs};

}  // namespace foretrace::trace::rules::graph_launch_parts
