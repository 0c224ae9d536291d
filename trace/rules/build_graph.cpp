#include "trace/rules/build_graph.h"

#include <utility>

#include <fmt/format.h>

#include "trace/annotate/annotate.h"
#include "trace/rules/describe_collectives.h"
#include "trace/rules/emit/emit.h"
#include "trace/rules/rules.h"

namespace foretrace::trace {
<<<<<<< HEAD
=======
namespace {

void flag_share_of_span(rules::Assembly& assembly, std::int64_t time, const char* what) {
  Honesty& honesty = assembly.honesty;
  if (honesty.span_ns > 0 &&
      static_cast<double>(time) > rules::flag_share * static_cast<double>(honesty.span_ns)) {
    honesty.flags.emplace_back(what);
  }
}

/// What most likely stands behind device work that starts late: a cause that the trace shows, else
/// one that it cannot show, else another program.
const char* reason_of_late_work(const rules::Assembly& assembly) {
  const auto& flags = assembly.honesty.flags;
  if (std::find(flags.begin(), flags.end(), "first use") != flags.end()) {
    return "late device work";
  }
  return assembly.streams.size() > 1 && assembly.events.syncs.empty() ? "missing records"
                                                                      : "shared device";
}

void set_flags(rules::Assembly& assembly) {
  const Honesty& honesty = assembly.honesty;
  flag_share_of_span(assembly, honesty.initial_backlog_ns, "initial backlog");
  flag_share_of_span(assembly, honesty.first_use_ns, "first use");
  flag_share_of_span(assembly, honesty.unexplained_device_ns, reason_of_late_work(assembly));
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
>>>>>>> f188dcb (Say doubt in the first line: unexplained time, reactions that are off, a device that does not react)

Result<BuiltGraph> build_graph(const EventTable& events, const BuildOptions& options) {
  if (Status status = rules::check_left_out(options.without_rules); !status) {
    return std::move(status).error();
  }
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
  rules::connect(assembly);
  return rules::emit(assembly);
}

}  // namespace foretrace::trace
