// Uses each installed library once: builds a graph of two tasks, simulates it, lists components.
#include <cstdio>
#include <utility>

#include <foretrace/engine/pull.h>
#include <foretrace/graph/graph_builder.h>
#include <foretrace/models/info.h>
#include <foretrace/trace/reader.h>

namespace {

int fail(const char* what) {
  std::fprintf(stderr, "consumer: %s\n", what);
  return 1;
}

}  // namespace

int main() {
  foretrace::GraphBuilder builder;
  const foretrace::LaneId stream = builder.add_lane({.kind = foretrace::LaneKind::stream});
  const foretrace::WorkId work = builder.add_work({.kind = foretrace::TaskKind::kernel});
  for (const int duration : {30, 12}) {
    builder.add_task({.lane = stream,
                      .work = work,
                      .kind = foretrace::TaskKind::kernel,
                      .duration_ns = duration});
  }
  const auto graph = std::move(builder).build();
  if (!graph.ok()) return fail(graph.error().message.c_str());
  if (foretrace::simulate(*graph).span_ns != 42) return fail("30 ns and 12 ns do not make 42 ns");
  if (foretrace::what_ifs::all().empty()) return fail("no optimizations");
  if (foretrace::trace::readers::all().empty()) return fail("no trace readers");
  if (foretrace::trace::read_trace("no such file", {}).ok()) return fail("read a missing file");
  return 0;
}
