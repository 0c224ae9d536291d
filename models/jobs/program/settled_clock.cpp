// The clock that products of a job settle at.
#include <algorithm>

#include "models/hardware/costs/rates.h"
#include "models/hardware/power/power_clock.h"
#include "models/jobs/program/rank_program.h"

namespace foretrace {
namespace {

void add_duty(const PassTime& time, double count, double intensity, Duty& duty) {
  const auto computed = [&time](CostSource source) {
    return time.computed[static_cast<std::size_t>(source)];
  };
  const double attention = computed(CostSource::attention);
  duty.products += count * (computed(CostSource::product) + intensity * attention);
  duty.memory += count * (computed(CostSource::memory) + (1 - intensity) * attention);
  for (const double exposed : time.exposed) duty.waiting += count * exposed;
  duty.idle += count * (time.in_a_row() - time.total);
}

double clock_factor(const SustainedClock& clock, double now, CostSource source) {
  return (source == CostSource::product ? clock.typical : clock.high) / now;
}

// The limit of a board holds for its mean power over about so long: assumed, of every board, to be
// what drivers report it over (NVML, nvmlDeviceGetPowerUsage: from Ampere on the average of a
// second; of GA100 the power at once).
constexpr double power_window_ns = 1e9;

// A stage waits for others at both ends of a step, in one piece: what is longer than the window
// lets the clock rise no more.
double waiting_ns(const StageWaits& waits, double model_ns) {
  const double piece = waits.of_model * model_ns;
  if (!(piece > 0)) return 0;
  return waits.share * model_ns * std::min(1.0, power_window_ns / piece);
}

// Products run at the clock of their duty in layers; rates of attention were measured at the high
// one.
double settled_clock(const Job& job, const RankProgram& program) {
  const StageWaits waits = stage_waits(job);
  const SustainedClock& clock = job.cluster->accelerator.sustained_clock;
  double now = clock.typical;
  // The duty depends on the clock and the clock on the duty, each weakly.
  for (int round = 0; round < 3; ++round) {
    SourceScale scale = no_scale();
    for (const CostSource source : {CostSource::product, CostSource::attention}) {
      scale[static_cast<std::size_t>(source)] = clock_factor(clock, now, source);
    }
    Duty duty;
    for (const BlockRun& run : program.order) {
      for (const RankProgram::BlockPass* pass : (*program.blocks)[run.block].passes()) {
        add_duty(time_of(program.actions_of(*pass), *job.framework, scale), run.count,
                 program.attention_intensity, duty);
      }
    }
    duty.idle += waiting_ns(waits, duty.products + duty.memory + duty.waiting + duty.idle);
    now = clock_at_duty(clock, duty);
  }
  return now;
}

bool has_free_clock(const Job& job) {
  const SustainedClock& clock = job.cluster->accelerator.sustained_clock;
  return uses_matrix_units(job.precisions.activations) && clock.low < clock.high;
}

}  // namespace

StageWaits stage_waits(const Job& job) {
  if (!has_free_clock(job)) return {};
  const double others = job.plan.pipeline - 1;
  return {others / (static_cast<double>(job.micro_batches()) * job.chunks),
          others / (static_cast<double>(job.plan.pipeline) * job.chunks)};
}

SourceScale settled_scale(const Job& job, const RankProgram& lowered) {
  SourceScale scale = no_scale();
  if (!has_free_clock(job)) return scale;
  const double now = settled_clock(job, lowered);
  for (const CostSource source : {CostSource::product, CostSource::attention}) {
    scale[static_cast<std::size_t>(source)] =
        clock_factor(job.cluster->accelerator.sustained_clock, now, source);
  }
  return scale;
}

}  // namespace foretrace
