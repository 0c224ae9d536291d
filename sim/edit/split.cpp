// Parts of a task that follow each other on its lane.
#include <algorithm>

#include <fmt/format.h>

#include "sim/edit/editor.h"
#include "sim/graph/links.h"

namespace foretrace {

Result<std::vector<TaskId>> Editor::split(TaskId task, const SplitOptions& options) {
  const std::int64_t duration_ns = graph_.duration_ns(task);
  const auto parts = static_cast<std::int64_t>(options.parts);
  if (parts < 1 || parts > std::max<std::int64_t>(duration_ns, 1)) {
    return Error{ErrorCode::bad_usage,
                 fmt::format("split: got {} parts for a task of {} ns, expected 1 to {}",
                             options.parts, duration_ns, std::max<std::int64_t>(duration_ns, 1))};
  }
  if (is_gone(task) || is_replaced(task)) {
    return Error{
        ErrorCode::bad_usage,
        fmt::format("split: an edit before has removed, replaced or split task {}", index(task))};
  }
  if (graph_.work(task).part != TaskPart::whole) {
    return Error{ErrorCode::bad_usage,
                 fmt::format("split: task {} is half of an operation", index(task))};
  }
  std::vector<TaskId> result{task};
  if (parts == 1) return result;
  const auto share = [&](std::int64_t part) {
    return duration_ns / parts + (part < duration_ns % parts ? 1 : 0);
  };
  const Trust trust{std::max(graph_.provenance(task), Provenance::scaled), 1.0F, 1.0F};
  set_duration(task, share(0), trust);
  Dependency cause = launch_link(graph_, task).dependency();
  const bool launched = cause.source != no_point;
  const LatencyFrom from = is_end(cause.source) ? LatencyFrom::end : LatencyFrom::start;
  for (std::int64_t part = 1; part < parts; ++part) {
    TaskSpec spec = like(task);
    spec.duration_ns = share(part);
    spec.provenance = trust.provenance;
    spec.segment_ns = options.gap_ns;
    if (launched && options.launch) {
      TaskSpec call = like(task_of(cause.source));
      call.duration_ns = options.launch->duration_ns;
      call.segment_ns = options.launch->segment_ns;
      result.push_back(insert(NewPair{call, spec, cause.lag_ns, from}, result.back()).device);
      continue;
    }
    result.push_back(insert(spec, result.back()));
    if (!launched) continue;
    cause.task = result.back();
    depend(cause);
  }
  stand_in({{task}, task, result.back()});
  return result;
}

}  // namespace foretrace
