#include "trace/rules/build_graph.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trace/rules/assembly.h"
#include "trace/rules/constants.h"
#include "trace/rules/emit.h"

namespace foretrace::trace {
namespace {

void flag_share_of_span(rules::Assembly& assembly, std::int64_t time, const char* what) {
  Honesty& honesty = assembly.honesty;
  if (honesty.span_ns > 0 &&
      static_cast<double>(time) > rules::flag_share * static_cast<double>(honesty.span_ns)) {
    honesty.flags.emplace_back(what);
  }
}

void set_flags(rules::Assembly& assembly) {
  const Honesty& honesty = assembly.honesty;
  flag_share_of_span(assembly, honesty.initial_backlog_ns, "initial backlog");
  flag_share_of_span(assembly, honesty.first_use_ns, "first use");
  flag_share_of_span(assembly, honesty.unexplained_device_ns, "shared device");
}

}  // namespace

namespace rules {

void apply(Assembly& assembly) {
  hidden_sync(assembly);
  hand_over(assembly);
  program_order(assembly);
  measure_medians(assembly);
  queue_depth(assembly);
  synchronization(assembly);
  event_wait(assembly);
  default_stream(assembly);
  graph_launch(assembly);
  device_start(assembly);
  reference_times(assembly);
  set_flags(assembly);
}

}  // namespace rules

Result<BuiltGraph> build_graph(const EventTable& events, const BuildOptions& options) {
  const Annotation annotation = annotate(events);
  rules::Assembly assembly{.events = events, .annotation = annotation, .options = options};
  rules::collect(assembly);
  if (assembly.threads.empty() && assembly.ops.empty()) {
    return Error{ErrorCode::unsupported,
                 fmt::format("{}: no device work, no steps and no host operators among {} events; "
                             "nothing to simulate",
                             events.info.path, events.size())};
  }
  rules::describe_collectives(assembly);
  rules::apply(assembly);
  return rules::emit(assembly);
}

}  // namespace foretrace::trace
