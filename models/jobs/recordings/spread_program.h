// A recorded run spread over ranks: its program is divided and ordered as a modelled job's is, and
// emitted again for a rank of every stage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "models/editing/kernels/kernel_editor.h"
#include "models/hardware/collectives/collective_costs.h"
#include "models/jobs/parallelism/plan.h"
#include "models/jobs/recordings/recorded_layers.h"
#include "models/jobs/schedules/schedule.h"
#include "sim/core/result.h"
#include "sim/edit/options.h"

namespace foretrace {

/// A time with its bounds.
struct SpreadTime {
  std::int64_t ns = 0;
  Trust trust;
};

struct SpreadOptions {
  ParallelPlan plan;  ///< a tensor group has divided the kernels already
  const ScheduleInfo* schedule = nullptr;
  std::uint32_t chunks = 1;
  std::uint32_t micro_batches = 1;  ///< of the recorded batch each
  std::size_t layers = 0;           ///< as in find_layers()
  double gradient_bytes = 4;
  double parameters = 0;  ///< that are trained; 0: from the trace
  /// Share of them that a rank of the tensor group has, where they are those of all its ranks.
  double own_parameters = 1;
  double bucket_bytes = 25.0 * (1U << 20U);  ///< of gradients that leave together
  const Cluster* cluster = nullptr;
  std::function<SpreadTime(const CollectiveCall&)> time_of = {};
  editing::LaunchTimes launch;              ///< of a collective's call
  std::int64_t call_host_ns = 0;            ///< before it
  std::int64_t copy_host_ns = 0;            ///< before the launch of a copy
  const std::vector<float>* low = nullptr;  ///< bounds per task of the graph; null: all 1
  const std::vector<float>* high = nullptr;
};

struct SpreadRun {
  TaskGraph graph;
  std::vector<float> low;  ///< per task, factor of its duration
  std::vector<float> high;
  editing::LayerEvidence evidence = editing::LayerEvidence::modules;
  std::vector<std::int64_t> stage_ns;  ///< kernels of a micro-batch
  std::int64_t transferred_ns = 0;     ///< per step
};

/// Stages are cut so that the slowest one is as fast as it can be. Errors: no_match without a
/// training step, layers or enough of them; missing_cost where nothing tells the size of what is
/// sent or exchanged; what check_job() refuses.
[[nodiscard]] Result<SpreadRun> spread_program(const editing::KernelEditor& editor,
                                               const SpreadOptions& options);

}  // namespace foretrace
