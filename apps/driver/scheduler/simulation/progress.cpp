#include "apps/driver/scheduler/simulation/progress.h"

#include <algorithm>
#include <cmath>

#include "sim/core/units.h"

namespace foretrace::scheduling {
namespace {

constexpr double ns_per_s = 1e9;

// To the nearest multiple, a half to the even one.
std::int64_t rounded(double time_s, std::int64_t quantum_ns) {
  const double multiple = time_s * ns_per_s / static_cast<double>(quantum_ns);
  const double low = std::floor(multiple);
  const double rest = multiple - low;
  const bool up = rest > 0.5 || (rest == 0.5 && std::fmod(low, 2.0) != 0);
  return static_cast<std::int64_t>(low + (up ? 1 : 0)) * quantum_ns;
}

std::optional<std::int64_t> progress_by_phases(const Job& job, JobState& state, std::int64_t to_ns,
                                               std::int64_t quantum_ns) {
  std::int64_t at = std::max(state.updated_ns, state.ready_ns);
  while (at < to_ns) {
    const auto phase = static_cast<std::size_t>(state.phase);
    const double rest = job.phases[phase] - state.done_in_phase;
    const double possible = state.rate * seconds(to_ns - at);
    if (possible < rest) {
      state.done_in_phase += possible;
      state.left -= possible;
      at = to_ns;
      break;
    }
    at += rounded(rest / state.rate, quantum_ns);
    state.left = std::max(0.0, state.left - rest);
    state.done_in_phase = 0;
    ++state.phase;
    if (phase + 1 == job.phases.size()) {
      state.left = 0;
      return at;
    }
  }
  state.ready_ns = std::max(state.ready_ns, at);  // rounding may reach beyond
  return std::nullopt;
}

}  // namespace

void set_left(const Job& job, JobState& state, double left) {
  state.left = left;
  double done = std::max(0.0, state.total - left);
  state.phase = 0;
  while (static_cast<std::size_t>(state.phase) + 1 < job.phases.size() &&
         done >= job.phases[static_cast<std::size_t>(state.phase)]) {
    done -= job.phases[static_cast<std::size_t>(state.phase++)];
  }
  state.done_in_phase = done;
}

std::int64_t end_of(const Job& job, const JobState& state, std::int64_t phase_quantum_ns) {
  if (!(state.rate > 0)) return never_ns;
  const std::int64_t from = std::max(state.updated_ns, state.ready_ns);
  if (phase_quantum_ns > 0) {
    JobState copy = state;
    const double bound_s = 2 * state.left / state.rate +
                           2 * seconds(phase_quantum_ns) * static_cast<double>(job.phases.size());
    const auto ended = progress_by_phases(job, copy, from + duration_from_seconds(bound_s).count(),
                                          phase_quantum_ns);
    return ended ? *ended : never_ns;
  }
  return from + duration_from_seconds(state.left / state.rate).count();
}

std::optional<std::int64_t> progress(const Job& job, JobState& state, std::int64_t to_ns,
                                     std::int64_t phase_quantum_ns) {
  if (!(state.rate > 0)) return std::nullopt;
  if (phase_quantum_ns > 0) return progress_by_phases(job, state, to_ns, phase_quantum_ns);
  const std::int64_t end = end_of(job, state, 0);
  if (end <= to_ns) {
    state.left = 0;
    return end;
  }
  const std::int64_t from = std::max(state.updated_ns, state.ready_ns);
  if (to_ns > from) state.left = std::max(0.0, state.left - state.rate * seconds(to_ns - from));
  return std::nullopt;
}

}  // namespace foretrace::scheduling
