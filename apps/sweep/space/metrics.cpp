#include "apps/sweep/space/metrics.h"

#include <array>

namespace foretrace::sweeping {
namespace {

constexpr auto time_unit = MetricUnit::time;

constexpr std::array trace_metrics = {
    MetricInfo{"step_ns", time_unit, true, true, "predicted time of a step"},
    MetricInfo{"speedup", MetricUnit::factor, true, false, "work per time, predicted / recorded"},
    MetricInfo{"time_ratio", MetricUnit::factor, true, false,
               "time of a step, predicted / recorded"},
    MetricInfo{"low_ns", time_unit, false, true, "low end of the range of the step"},
    MetricInfo{"high_ns", time_unit, false, true, "high end of the range of the step"},
    MetricInfo{"memory_bytes", MetricUnit::bytes, false, true,
               "reserved bytes of the fullest device, without the driver's context"},
    MetricInfo{"live_bytes", MetricUnit::bytes, false, true,
               "live tensors of the fullest device at the peak"},
    MetricInfo{"fits", MetricUnit::flag, false, true,
               "1 if the run and the context fit into the memory of its device"},
};

constexpr std::array scenario_metrics = {
    MetricInfo{"step_ns", time_unit, true, true,
               "time of a step; of a pipeline by the formula of its schedule"},
    MetricInfo{"memory_bytes", MetricUnit::bytes, true, true,
               "memory that the fullest stage needs"},
    MetricInfo{"fits", MetricUnit::flag, true, true, "1 if every stage fits on its device"},
    MetricInfo{"ram_bytes", MetricUnit::bytes, false, true,
               "its use of the memory that it computes in"},
    MetricInfo{"flash_bytes", MetricUnit::bytes, false, true,
               "its use of a memory for weights; unknown without one"},
    MetricInfo{"tokens_per_s", MetricUnit::plain, true, false,
               "tokens per second of the job; samples of a model of layers"},
    MetricInfo{"mfu", MetricUnit::share, true, false,
               "model FLOPs of a step / what the accelerators could do in its time"},
    MetricInfo{"low_ns", time_unit, false, true, "low end of the range of the step"},
    MetricInfo{"high_ns", time_unit, false, true, "high end of the range of the step"},
    MetricInfo{"bubble_ns", time_unit, false, true, "waiting for other stages"},
    MetricInfo{"exposed_ns", time_unit, false, true,
               "communication without overlapping computation"},
    MetricInfo{"ranks", MetricUnit::plain, false, true, "accelerators in use"},
    MetricInfo{"cost_per_million_tokens", MetricUnit::plain, false, false,
               "dollars; unknown if the cluster has no price"},
};

}  // namespace

std::span<const MetricInfo> metrics_of(Subject subject) {
  if (subject == Subject::trace) return trace_metrics;
  return scenario_metrics;
}

}  // namespace foretrace::sweeping
