// How far a job gets in a time.
#pragma once

#include <cstdint>
#include <optional>

#include "apps/scheduling/model/job.h"

namespace foretrace::scheduling {

/// Runs the job from `state.updated_ns` to `to_ns` at its rate and brings its steps up to date.
/// Returns when it ended, if it did. A phase runs for the nearest whole multiple of the quantum
/// (0: exactly as long as its steps take).
std::optional<std::int64_t> progress(const Job& job, JobState& state, std::int64_t to_ns,
                                     std::int64_t phase_quantum_ns);

/// Sets a job back, or forward, to so many steps left.
void set_left(const Job& job, JobState& state, double left);

/// When the job ends at its rate; never_ns if it makes no progress.
[[nodiscard]] std::int64_t end_of(const Job& job, const JobState& state,
                                  std::int64_t phase_quantum_ns);

}  // namespace foretrace::scheduling
