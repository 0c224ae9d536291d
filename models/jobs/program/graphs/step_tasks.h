// Tasks of a modeled step: what both graphs of a job add to their builders.
#pragma once

#include <cstdint>
#include <string_view>

#include "models/jobs/schedules/schedule.h"
#include "sim/graph/graph_builder.h"

namespace foretrace {

/// What the host does of a rank's passes.
struct HostLanes {
  LaneId host{};
  LaneId behind{};  ///< what the device still has when all of a pass is launched
};

struct StepTasks {
  GraphBuilder builder;

  [[nodiscard]] LaneId lane(LaneKind kind, std::int64_t number, std::int32_t rank,
                            std::string_view name);
  [[nodiscard]] WorkId work(std::string_view name, TaskKind kind, CollectiveKind collective);
  /// The kind of the task is that of its work; its time is computed, not measured.
  [[nodiscard]] TaskId add(LaneId lane, WorkId work, Phase phase, std::int64_t ns);
  [[nodiscard]] HostLanes hosts(std::int32_t rank);
  /// Three tasks behind one of `compute`: the host launches it, beside it and ahead of it, the device
  /// is behind that by `rest_ns`, and a task of length 0 on `compute` waits for both. The last one.
  [[nodiscard]] TaskId all_launched(const HostLanes& lanes, LaneId compute, Phase phase,
                                    const LaunchTime& ns);
  /// Waits for the end of `source`; for nothing if that is none.
  void after(TaskId task, TaskId source, DependencyKind kind);
};

}  // namespace foretrace
