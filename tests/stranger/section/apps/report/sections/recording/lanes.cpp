// Threads and streams of a trace.
#include "apps/report/pages/inspect.h"

namespace foretrace::report::sections {

Sections lanes(const InspectAnswer& answer) {
  if (!answer.found.graph) return {};
  const GraphFacts& facts = *answer.found.graph;
  Section section{.key = "lanes", .title = "lanes", .show = Show::details};
  section.line("host", std::to_string(facts.threads.size()) + " threads");
  section.line("device", std::to_string(facts.streams.size()) + " streams");
  return {std::move(section)};
}

}  // namespace foretrace::report::sections
