// Phases, layers and operators of device work, from the calls that launched it.
#pragma once

#include "trace/annotate/host_phases.h"

namespace foretrace::trace {

/// Per event: the runtime call that launched it (device work) or none.
[[nodiscard]] std::vector<EventId> find_launches(const EventTable& events);

/// Attributes device work. Needs phases, operators and layers of host events.
void attribute_device(Attribution& attribution);

}  // namespace foretrace::trace
