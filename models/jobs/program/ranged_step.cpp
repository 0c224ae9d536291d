#include "models/jobs/program/ranged_step.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "models/jobs/times/evidence.h"
#include "sim/core/whole.h"

namespace foretrace {
namespace {

/// How much shorter and longer all sources make the step together.
struct Sides {
  double below = 0;
  double above = 0;
};

Sides together(const RangedStep& range) {
  double below = 0;
  double above = 0;
  for (const auto& sides : range.change) {
    for (const double change : sides) (change < 0 ? below : above) += change * change;
  }
  return {std::sqrt(below), std::sqrt(above)};
}

void combine_changes(RangedStep& range) {
  const auto base = static_cast<double>(range.step_ns);
  const Sides sides = together(range);
  const double least = std::min(std::ceil(range.least_ns), base);
  range.low_ns = to_whole(std::clamp(base - sides.below, least, base));
  range.high_ns = to_whole(base + sides.above);
}

Status check_range(const RangedStep& range) {
  const double longest = static_cast<double>(range.step_ns) + together(range).above;
  if (fits_whole(longest)) return ok_status();
  return Error{ErrorCode::bad_config,
               fmt::format("a step: got up to {:.2g} ns, expected at most {:.2g}: model, batch or "
                           "sequence are too large",
                           longest, static_cast<double>(most_whole))};
}

/// Of independent errors: what is missing to `whole`.
double missing(double part, double whole) {
  return std::sqrt(std::max(0.0, whole * whole - part * part));
}

/// Makes the sources add up to what was measured of steps like this one.
void rest_on_evidence(const Job& job, RangedStep& range) {
  const auto evidence = evidence_range(*job.framework, measured_kind(*job.model, job.pass),
                                       job.cluster->accelerator.name, job.ranks());
  if (!evidence) return;
  const auto base = static_cast<double>(range.step_ns);
  const Sides measured{base * (1 - evidence->factor.low), base * (evidence->factor.high - 1)};
  const Sides sources = together(range);
  for (auto& sides : range.change) {
    for (double& change : sides) {
      const double has = change < 0 ? sources.below : sources.above;
      const double may = change < 0 ? measured.below : measured.above;
      if (has > may) change *= may / has;
    }
  }
  range.change[static_cast<std::size_t>(CostSource::framework)] = {
      -missing(sources.below, measured.below), missing(sources.above, measured.above)};
  range.basis = evidence->basis;
}

}  // namespace

Result<RangedStep> ranged_step(const Job& job) {
  FORETRACE_TRY(const auto program, build_program(job));
  return ranged_step(job, program);
}

Result<RangedStep> ranged_step(const Job& job, const RankProgram& program) {
  return ranged_step(job, program, amounts_of(job));
}

Result<RangedStep> ranged_step(const Job& job, const RankProgram& program,
                               const ModelAmounts& amounts) {
  const KernelTimes kernels(*job.cluster, *job.framework, job.precisions);
  FORETRACE_TRY(const auto typical, estimate(job, program));
  RankProgram blocks = program;
  blocks.step = {};
  RangedStep result;
  result.step_ns = typical.step_ns;
  const auto base = static_cast<double>(result.step_ns);
  result.least_ns = least_step_ns(job, amounts);
  const bool is_known = kernels.err_together(CostSource::product, CostSource::framework);
  for (std::size_t i = 0; i < cost_source_count; ++i) {
    const auto source = static_cast<CostSource>(i);
    Ranged spread = kernels.spread(source);
    if (source == CostSource::host && job.framework->host_kernel_ns.typical > 0) {
      const Ranged& host = job.framework->host_kernel_ns;
      spread = {1, host.low / host.typical, host.high / host.typical};
    }
    for (std::size_t side = 0; side < 2; ++side) {
      const double factor = side == 0 ? spread.low : spread.high;
      if (factor == 1 || !std::isfinite(factor)) continue;
      SourceScale scale = no_scale();
      for (std::size_t j = 0; j < cost_source_count; ++j) {
        if (kernels.err_together(source, static_cast<CostSource>(j))) scale[j] = factor;
      }
      FORETRACE_TRY(const auto scaled, laid_out(job, timed(job, blocks, scale), scale));
      FORETRACE_TRY(const auto there, estimate(job, scaled));
      result.change[i][side] = static_cast<double>(there.step_ns) - base;
    }
  }
  if (!is_known) rest_on_evidence(job, result);
  FORETRACE_TRY(check_range(result));
  combine_changes(result);
  return result;
}

RangedStep around(RangedStep range, std::int64_t step_ns) {
  if (range.step_ns == step_ns || range.step_ns <= 0) return range;
  const double longer = static_cast<double>(step_ns) / static_cast<double>(range.step_ns);
  range.step_ns = step_ns;
  for (auto& sides : range.change) {
    for (double& change : sides) change *= longer;
  }
  combine_changes(range);
  return range;
}

RangedStep without(RangedStep range, CostSource source) {
  range.change[static_cast<std::size_t>(source)] = {};
  combine_changes(range);
  return range;
}

}  // namespace foretrace
