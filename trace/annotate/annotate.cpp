#include "trace/annotate/annotate.h"

#include <utility>

#include "trace/annotate/context.h"
#include "trace/annotate/device_phases.h"
#include "trace/annotate/evidence.h"
#include "trace/annotate/host_phases.h"
#include "trace/annotate/layers.h"
#include "trace/annotate/regions.h"
#include "trace/annotate/repeated_passes.h"
#include "trace/annotate/steps.h"

namespace foretrace::trace {

std::string_view to_string(PhaseEvidence evidence) {
  switch (evidence) {
    case PhaseEvidence::none: return "none";
    case PhaseEvidence::annotation: return "annotation";
    case PhaseEvidence::optimizer: return "optimizer";
    case PhaseEvidence::loader: return "loader";
    case PhaseEvidence::autograd: return "autograd";
    case PhaseEvidence::flow: return "flow";
    case PhaseEvidence::module: return "module";
    case PhaseEvidence::python_frame: return "python_frame";
    case PhaseEvidence::operator_name: return "operator_name";
    case PhaseEvidence::collective: return "collective";
    case PhaseEvidence::context: return "context";
    case PhaseEvidence::twin: return "twin";
  }
  return "none";
}

Annotation annotate_with(const EventTable& events, EvidenceSet use) {
  Attribution attribution = start_attribution(events, use);
  attribution.result.steps = find_steps(attribution);
  attribute_host_phases(attribution);
  attribute_operators(attribution);
  if (use.has(PhaseEvidence::context)) attribute_by_context(attribution);
  attribute_layers(attribution);
  attribute_device(attribution);
  attribution.result.regions = find_regions(attribution);
  // After the phases: equal passes may begin anywhere, so they are no evidence of what comes first.
  if (attribution.result.steps.empty()) {
    RepeatedPasses passes = find_repeated_passes(events);
    attribution.result.steps = std::move(passes.steps);
    attribution.result.steps_note = std::move(passes.note);
  }
  return std::move(attribution.result);
}

Annotation annotate(const EventTable& events) { return annotate_with(events, EvidenceSet::all()); }

}  // namespace foretrace::trace
