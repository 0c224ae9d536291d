// The parts of the step that answers.
#include "sim/result/steps/step_breakdown.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>

namespace foretrace {
namespace {

Breakdown mean_of(const Breakdown& a, const Breakdown& b) {
  Breakdown mean;
  const auto both = [](std::int64_t x, std::int64_t y) { return std::midpoint(x, y); };
  mean.compute_ns = both(a.compute_ns, b.compute_ns);
  mean.communication_exposed_ns = both(a.communication_exposed_ns, b.communication_exposed_ns);
  mean.communication_waiting_ns = both(a.communication_waiting_ns, b.communication_waiting_ns);
  mean.memory_copy_ns = both(a.memory_copy_ns, b.memory_copy_ns);
  mean.host_bound_ns = both(a.host_bound_ns, b.host_bound_ns);
  mean.idle_ns = both(a.idle_ns, b.idle_ns);
  mean.communication_overlapped_ns =
      both(a.communication_overlapped_ns, b.communication_overlapped_ns);
  return mean;
}

/// Parts of a step that is not as long as its window, as where the busiest stream has more to do per
/// step than the device in this one, keep their shares. Halves lose up to a nanosecond per part: the
/// largest part takes it, so that the sum is exact.
void settle_parts(Breakdown& breakdown, std::int64_t step_ns) {
  std::array<std::int64_t*, 6> parts = {
      &breakdown.compute_ns,     &breakdown.communication_exposed_ns,
      &breakdown.memory_copy_ns, &breakdown.communication_waiting_ns,
      &breakdown.host_bound_ns,  &breakdown.idle_ns};
  const std::int64_t sum = breakdown.total_ns();
  if (sum > 0 && std::abs(step_ns - sum) > static_cast<std::int64_t>(parts.size())) {
    const double factor = static_cast<double>(step_ns) / static_cast<double>(sum);
    for (std::int64_t* part : parts) {
      *part = static_cast<std::int64_t>(static_cast<double>(*part) * factor);
    }
    breakdown.communication_overlapped_ns = static_cast<std::int64_t>(
        static_cast<double>(breakdown.communication_overlapped_ns) * factor);
  }
  std::int64_t& largest = **std::max_element(parts.begin(), parts.end(),
                                             [](const auto* a, const auto* b) { return *a < *b; });
  largest += step_ns - breakdown.total_ns();
}

/// What the device does for a step alone: no host, no waiting. Of work that overlaps with that of
/// another step only a share is the step's own; its gaps are idle.
Breakdown work_alone(const Breakdown& all, std::int64_t work_ns) {
  Breakdown own;
  own.compute_ns = all.compute_ns;
  own.communication_exposed_ns = all.communication_exposed_ns;
  own.memory_copy_ns = all.memory_copy_ns;
  own.communication_overlapped_ns = all.communication_overlapped_ns;
  const std::int64_t sum = own.total_ns();
  if (sum > work_ns) {
    const double share = static_cast<double>(work_ns) / static_cast<double>(sum);
    for (std::int64_t* const part :
         {&own.compute_ns, &own.communication_exposed_ns, &own.memory_copy_ns}) {
      *part = static_cast<std::int64_t>(static_cast<double>(*part) * share);
    }
  }
  own.idle_ns = work_ns - own.total_ns();
  return own;
}

}  // namespace

Breakdown step_breakdown(const TaskGraph& graph, const Timeline& timeline, const StepTimes& steps,
                         const StepAnswer& answer) {
  const auto at = [&](std::size_t step) {
    const StepScope scope = scope_of(graph, steps, answer, step);
    const Breakdown all =
        summarize(graph, timeline,
                  {scope.begin_ns, scope.end_ns, scope.rank, no_device, scope.work_of})
            .breakdown;
    return scope.work_of < 0 ? all : work_alone(all, steps.device[step].work_ns);
  };
  const auto [first, second] = answer.middle;
  Breakdown breakdown = first == second ? at(first) : mean_of(at(first), at(second));
  settle_parts(breakdown, answer.step_ns);
  return breakdown;
}

}  // namespace foretrace
