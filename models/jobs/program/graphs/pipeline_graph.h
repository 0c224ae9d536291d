// The event-driven evaluation of a job: a task graph of its stages, one per rank class.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "models/jobs/program/rank_program.h"
#include "models/jobs/schedules/execution.h"
#include "sim/core/result.h"
#include "sim/graph/task_graph.h"

namespace foretrace {

/// Who waits for whom in a schedule; shared by all jobs of its shape.
struct PipelineTopology {
  const ScheduleInfo* schedule = nullptr;
  ScheduleShape shape;
  bool sends_beside = false;  ///< sends are tasks of their own
  bool has_hosts = false;     ///< launches are, which may be behind
  TaskGraph graph;            ///< with durations of 0
  /// Per task: which of the durations of a job it takes.
  std::vector<std::uint32_t> slot;
};

/// `ranks`: of each stage; empty: one each. Error: the schedule's shape, or a deadlock.
[[nodiscard]] Result<PipelineTopology> pipeline_topology(const ScheduleInfo& schedule,
                                                         const ScheduleShape& shape,
                                                         bool sends_beside, bool has_hosts,
                                                         std::span<const std::uint32_t> ranks = {});

/// The same graph with the times of a job.
[[nodiscard]] TaskGraph pipeline_graph(const PipelineTopology& topology,
                                       const RankProgram::Step& step);

}  // namespace foretrace
