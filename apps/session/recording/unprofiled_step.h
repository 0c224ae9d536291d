// The profiler's own work is in the times of the host: recording an operator with its shapes and
// memory takes microseconds. How much per recorded event is not in a trace; the time that a step
// takes without a profiler tells it.
#pragma once

#include <cstdint>
#include <string_view>

#include "apps/session/recording/recording.h"
#include "sim/core/result.h"

namespace foretrace {

/// Host events (operators, calls, frames, ranges, memory) on the threads of the graph per step,
/// where the recording has operators; 0: it has none, or is a job's.
[[nodiscard]] double host_events_per_step(const Recording& recording);

/// Whether the time of a step without the profiler can tell its work: the recording has operators,
/// and its step reacts to a faster host. take_out_profiler() refuses others.
[[nodiscard]] bool step_tells_profiler(const Recording& recording);

/// "6.09 ms" in ns; 0 for no text.
[[nodiscard]] Result<std::int64_t> parse_unprofiled_step(std::string_view text);

/// Makes the host of the recording as fast as its program's is without a profiler: every piece of
/// host time loses `cost` x the events recorded in it, at most down to its kept share, with the one
/// cost that lets the simulated step take `step_ns`. Sets `Recording::unprofiled`. Errors: a job;
/// no operators; a step that is not below the recorded one; a device that limits it.
[[nodiscard]] Status take_out_profiler(std::int64_t step_ns, Recording& recording);

}  // namespace foretrace
