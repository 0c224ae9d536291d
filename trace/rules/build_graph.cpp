#include "trace/rules/build_graph.h"

#include "trace/annotate/annotate.h"
#include "trace/rules/check_work.h"
#include "trace/rules/describe_collectives.h"
#include "trace/rules/emit/emit.h"
#include "trace/rules/rules.h"

namespace foretrace::trace {

Result<BuiltGraph> build_graph(const EventTable& events, const BuildOptions& options) {
  FORETRACE_TRY(rules::check_left_out(options.without_rules));
  const Annotation annotation = annotate(events);
  rules::Assembly assembly{.events = events, .annotation = annotation, .options = options};
  rules::collect(assembly);
  FORETRACE_TRY(rules::check_work(assembly));
  rules::describe_collectives(assembly);
  rules::connect(assembly);
  Result<BuiltGraph> built = rules::emit(assembly);
  if (built.ok()) {
    built->steps_note = annotation.steps_note;
  }
  return built;
}

}  // namespace foretrace::trace
