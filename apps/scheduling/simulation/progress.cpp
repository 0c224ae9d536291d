#include "apps/scheduling/simulation/progress.h"

#include <algorithm>
#include <cmath>

#include "sim/core/units.h"

namespace foretrace::scheduling {
namespace {

constexpr double ns_per_s = 1e9;

// To the nearest multiple, a half to the even one.
std::int64_t rounded(double time_ns, std::int64_t quantum_ns) {
  const auto quantum = static_cast<double>(quantum_ns);
  const double multiple = time_ns / quantum;
  const double low = std::floor(multiple);
  const double rest = multiple - low;
  const bool up = rest > 0.5 || (rest == 0.5 && std::fmod(low, 2.0) != 0);
  const double whole_ones = low + (up ? 1 : 0);
  if (!(whole_ones * quantum < 0x1p62)) return std::int64_t{1} << 62;
  return static_cast<std::int64_t>(whole_ones) * quantum_ns;
}

double rest_of_phase(const Job& job, const JobState& state) {
  return std::max(0.0, job.phases[static_cast<std::size_t>(state.phase)] - state.done_in_phase);
}

// When the phase that runs from `at_ns` ends. The whole time of the phase is rounded, not what is
// left of it, so that it does not matter how often anybody looked in between.
std::int64_t end_of_phase(const Job& job, const JobState& state, std::int64_t at_ns,
                          std::int64_t quantum_ns) {
  const double rest_ns = rest_of_phase(job, state) / state.rate * ns_per_s;
  const auto ran_ns = static_cast<double>(state.ran_in_phase_ns);
  const std::int64_t whole_ns = rounded(ran_ns + rest_ns, quantum_ns);
  return later(at_ns, std::max<std::int64_t>(0, whole_ns - state.ran_in_phase_ns));
}

std::optional<std::int64_t> progress_by_phases(const Job& job, JobState& state, std::int64_t to_ns,
                                               std::int64_t quantum_ns) {
  std::int64_t at_ns = std::max(state.updated_ns, state.ready_ns);
  const auto phases = static_cast<std::int32_t>(job.phases.size());
  for (; state.phase < phases; ++state.phase) {
    const double rest = rest_of_phase(job, state);
    const std::int64_t end_ns = end_of_phase(job, state, at_ns, quantum_ns);
    if (end_ns > to_ns) {
      const std::int64_t time_ns = std::max<std::int64_t>(0, to_ns - at_ns);
      const double done = std::min(rest, state.rate * seconds(time_ns));
      state.done_in_phase += done;
      state.ran_in_phase_ns += time_ns;
      state.left = std::max(0.0, state.left - done);
      return std::nullopt;
    }
    at_ns = end_ns;
    state.left = std::max(0.0, state.left - rest);
    state.done_in_phase = 0;
    state.ran_in_phase_ns = 0;
  }
  state.left = 0;
  return at_ns;
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
  state.ran_in_phase_ns = 0;
}

std::int64_t end_of(const Job& job, const JobState& state, std::int64_t phase_quantum_ns) {
  if (!(state.rate > 0)) return never_ns;
  const std::int64_t from = std::max(state.updated_ns, state.ready_ns);
  if (phase_quantum_ns > 0) {
    JobState copy = state;
    return progress_by_phases(job, copy, never_ns, phase_quantum_ns).value_or(never_ns);
  }
  return later(from, duration_from_seconds(state.left / state.rate).count());
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
