#include "models/jobs/figures/open_choices.h"

#include <limits>
#include <optional>

#include <fmt/format.h>

#include "models/jobs/program/estimate.h"
#include "models/jobs/program/job_figures.h"

namespace foretrace {
namespace {

// By the steps of a pipeline: the formula of its schedule may leave out waiting.
Result<Estimate> as_simulated(const Job& job) {
  FORETRACE_TRY(const auto program, build_program(job));
  return estimate(job, program, job.plan.pipeline > 1 ? Passes::by_steps : Passes::by_formula);
}

}  // namespace

Result<Scenario> fastest_choice(const Scenario& scenario, const OpenChoices& open) {
  const auto or_own = [](auto values, auto own) {
    if (values.empty()) values.push_back(own);
    return values;
  };
  std::optional<Scenario> best;
  std::int64_t best_ns = std::numeric_limits<std::int64_t>::max();
  std::optional<Scenario> smallest;
  double smallest_bytes = std::numeric_limits<double>::max();
  Error last{ErrorCode::bad_config, "nothing to choose from"};
  const auto one_chunk = find_schedule("1f1b");
  const auto more_chunks = find_schedule("interleaved");
  if (!one_chunk.ok() || !more_chunks.ok()) return last;

  for (const double micro : or_own(open.micro_batches, scenario.job.micro_batch)) {
    for (const std::uint32_t chunks : or_own(open.chunks, scenario.job.chunks)) {
      for (const Recompute recompute : or_own(open.recomputes, scenario.job.recompute)) {
        Scenario one = scenario;
        one.job.micro_batch = micro;
        one.job.recompute = recompute;
        one.job.chunks = chunks;
        if (!open.chunks.empty()) one.job.schedule = chunks > 1 ? *more_chunks : *one_chunk;
        auto complete = complete_scenario(std::move(one));
        if (!complete.ok()) {
          last = complete.error();
          continue;
        }
        // Who chooses pieces of a model cuts it into equal ones.
        if (!open.chunks.empty() && chunks > 1 &&
            complete->job.model->layers % (chunks * complete->job.plan.pipeline) != 0) {
          continue;
        }
        const auto answer = as_simulated(complete->job);
        if (!answer.ok()) {
          last = answer.error();
          continue;
        }
        const double bytes = fullest_bytes(answer->memory);
        if (open.memory_bytes > 0 && bytes > open.memory_bytes) {
          if (bytes < smallest_bytes) {
            smallest_bytes = bytes;
            smallest = std::move(*complete);
          }
          continue;
        }
        if (answer->step_ns < best_ns) {
          best_ns = answer->step_ns;
          best = std::move(*complete);
        }
      }
    }
  }
  if (best.has_value()) return std::move(*best);
  if (!smallest.has_value()) return last;
  return Error{
      ErrorCode::no_match,
      fmt::format("no choice fits: the smallest (micro-batch {}) needs {:.1f} GiB, expected "
                  "at most {:.1f} GiB",
                  smallest->job.micro_batch, smallest_bytes / (1 << 30),
                  open.memory_bytes / (1 << 30))};
}

}  // namespace foretrace
