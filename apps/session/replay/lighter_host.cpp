#include "apps/session/replay/lighter_host.h"

#include "apps/session/recording/host_events.h"
#include "apps/session/recording/without_events.h"

namespace foretrace {

Result<LighterHost> lighter_host(const Recording& recording, const RunOptions& options) {
  LighterHost lighter;
  const HostEvents events = host_events(recording);
  if (events.per_step == 0) return lighter;
  lighter.events_per_step = events.per_step;
  lighter.graph = without_events(recording.graph(), events, likely_event_ns);
  FORETRACE_TRY(const Run run, simulate_run(lighter.graph, options));
  lighter.step_ns = run.answer.step_ns;
  return lighter;
}

}  // namespace foretrace
