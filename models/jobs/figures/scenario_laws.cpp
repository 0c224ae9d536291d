#include "models/jobs/figures/scenario_laws.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "sim/core/broken_law.h"

namespace foretrace {
namespace {

double ms(double ns) { return ns * 1e-6; }

/// Not a number is less than nothing, too.
void expect_part(std::string_view what, double part) {
  if (part >= 0 && std::isfinite(part)) return;
  throw BrokenLaw("no part is less than nothing", fmt::format("{} {}", part, what));
}

void expect_parts(const Estimate& answer) {
  const StepBreakdown& parts = answer.breakdown;
  expect_part("ns of a step", static_cast<double>(answer.step_ns));
  for (const double ns : parts.computed) expect_part("ns of kernels", ns);
  for (const double ns : parts.exposed) expect_part("ns of collectives", ns);
  for (const StageMemory& stage : answer.memory) {
    for (const double bytes : {stage.weights, stage.gradients, stage.optimizer, stage.activations,
                               stage.working, stage.buffers}) {
      expect_part("bytes of a stage", bytes);
    }
  }
  // Times in ns are whole, sums of thousands of them are not.
  const double all = parts.total();
  const auto step = static_cast<double>(answer.step_ns);
  if (all <= step * (1 + 1e-6) + 1e3) return;
  throw BrokenLaw("parts of a step are no more than it",
                  fmt::format("{:.3f} ms in a step of {:.3f} ms", ms(all), ms(step)));
}

void expect_peak(const Job& job, std::int64_t step_ns, const ModelAmounts& amounts) {
  if (!keeps_peaks(job)) return;
  const double least_ns = least_step_seconds(job, amounts) * 1e9;
  if (static_cast<double>(step_ns) >= least_ns * (1 - 1e-9)) return;
  throw BrokenLaw(
      "no step is faster than the peak of its accelerators",
      fmt::format("{:.3f} ms, {} x {} need at least {:.3f} ms", ms(static_cast<double>(step_ns)),
                  job.ranks(), job.cluster->accelerator.name, ms(least_ns)));
}

/// A lane does one thing at a time.
void expect_lanes(const ScenarioAnswer& answer) {
  std::vector<std::int64_t> lanes(answer.graph.context().lanes.size(), 0);
  for (std::size_t t = 0; t < answer.graph.size(); ++t) {
    const auto task = make_id<TaskId>(t);
    const std::int64_t ns = answer.graph.duration_ns(task);
    expect_part("ns of a task", static_cast<double>(ns));
    lanes[index(answer.graph.lane_id(task))] += ns;
  }
  const std::int64_t longest = lanes.empty() ? 0 : *std::max_element(lanes.begin(), lanes.end());
  if (longest <= answer.step_ns) return;
  throw BrokenLaw(
      "a step is no shorter than the work of its device",
      fmt::format("{:.3f} ms of work in a step of {:.3f} ms", ms(static_cast<double>(longest)),
                  ms(static_cast<double>(answer.step_ns))));
}

}  // namespace

void expect_laws(const Job& job, const Estimate& answer, const ModelAmounts& amounts) {
  expect_parts(answer);
  expect_peak(job, answer.step_ns, amounts);
}

void expect_laws(const Job& job, const ScenarioAnswer& answer, const ModelAmounts& amounts) {
  expect_laws(job, answer.analytic, amounts);
  expect_peak(job, answer.step_ns, amounts);
  expect_lanes(answer);
  const RangedStep& range = answer.range;
  if (range.low_ns <= answer.step_ns && answer.step_ns <= range.high_ns) return;
  throw BrokenLaw(
      "a range contains its step",
      fmt::format("{:.3f} ms is not within {:.3f} .. {:.3f} ms",
                  ms(static_cast<double>(answer.step_ns)), ms(static_cast<double>(range.low_ns)),
                  ms(static_cast<double>(range.high_ns))));
}

}  // namespace foretrace
