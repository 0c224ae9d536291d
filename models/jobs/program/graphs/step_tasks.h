// Tasks of a modeled step: what both graphs of a job add to their builders.
#pragma once

#include <cstdint>
#include <string_view>

#include "sim/graph/graph_builder.h"

namespace foretrace {

struct StepTasks {
  GraphBuilder builder;

  [[nodiscard]] LaneId lane(LaneKind kind, std::int64_t number, std::int32_t rank,
                            std::string_view name);
  [[nodiscard]] WorkId work(std::string_view name, TaskKind kind, CollectiveKind collective);
  /// The kind of the task is that of its work; its time is computed, not measured.
  [[nodiscard]] TaskId add(LaneId lane, WorkId work, Phase phase, std::int64_t ns);
  /// Waits for the end of `source`; for nothing if that is none.
  void after(TaskId task, TaskId source, DependencyKind kind);
};

}  // namespace foretrace
