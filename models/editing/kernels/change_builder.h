// Puts new tasks into a Change: a kernel with the call that launches it, a task of a host thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "sim/graph/change.h"
#include "sim/graph/task_graph.h"

namespace foretrace::detail {

class ChangeBuilder {
 public:
  explicit ChangeBuilder(const TaskGraph& graph) : graph_(graph) {}

  /// A work of this name and kind; the same id for the same name and kind.
  WorkId work(std::string_view name, TaskKind kind);
  LaneId add_lane(Lane lane);
  TaskId insert(const TaskSpec& task, TaskId anchor, Place place);

  struct NewKernel {
    std::string_view name;
    std::int64_t duration_ns = 0;
    Provenance provenance = Provenance::assumed;
    float low = 1.0F;
    float high = 1.0F;
    LaneId stream{};
    std::int64_t gap_ns = 0;
  };
  struct NewCall {
    std::string_view name;
    std::int64_t duration_ns = 0;
    std::int64_t segment_ns = 0;  ///< host time of the thread before it
    std::int64_t latency_ns = 0;  ///< from its end to the kernel on an idle stream
  };
  struct Inserted {
    TaskId call{};
    TaskId kernel{};
  };
  /// A call at the place of `anchor` on its thread, and its kernel; phase, layer and step are the
  /// anchor's.
  Inserted insert_launch(TaskId anchor, Place place, const NewCall& call, const NewKernel& kernel);

  Change change;

 private:
  const TaskGraph& graph_;
  std::map<std::pair<std::string, TaskKind>, WorkId> works_;
};

}  // namespace foretrace::detail
