#include "trace/assemble/build_graph.h"

#include <fmt/format.h>

#include "trace/nodes/node_tasks.h"
#include "trace/rules/build_graph.h"

namespace foretrace::trace {

Result<BuiltGraph> build_graph(const LoadedTrace& trace, const BuildOptions& options) {
  if (trace.nodes() != nullptr) return build_node_graph(trace.events, *trace.nodes(), options);
  if (trace.memory() != nullptr) {
    return Error{ErrorCode::unsupported,
                 fmt::format("{}: {} has device memory over time and no work; to simulate the run, "
                             "use a trace of it, such as Kineto's",
                             trace.events.info.path, trace.events.info.format)};
  }
  return build_graph(trace.events, options);
}

}  // namespace foretrace::trace
