// One task of a group stands for all of them.
#include <algorithm>

#include "sim/edit/editor.h"
#include "sim/edit/group_place.h"

namespace foretrace {

Result<TaskId> Editor::merge(std::span<const TaskId> group, const MergeOptions& options) {
  const bool host =
      !group.empty() && index(group.front()) < graph_.size() && is_host(graph_.kind(group.front()));
  FORETRACE_TRY(auto found,
                find_place(*this, group, host ? GroupPlace::Of::host : GroupPlace::Of::device));
  const std::size_t slot = found.slot(Stands::last);
  const TaskId stays = group[slot];
  if (group.size() == 1 && options.duration_ns < 0) return stays;
  Trust trust = options.trust;
  std::int64_t duration_ns = options.duration_ns;
  if (duration_ns < 0) {
    duration_ns = 0;
    // A sum of measured times is none that was measured.
    trust = {std::max(graph_.provenance(stays), Provenance::scaled), 1.0F, 1.0F};
    for (const TaskId task : group) {
      duration_ns += graph_.duration_ns(task);
      trust.provenance = std::max(trust.provenance, graph_.provenance(task));
    }
  }
  set_duration(stays, duration_ns, trust);
  if (group.size() == 1) return stays;
  // The gap before the first operation is the one that remains; host time all remains.
  if (!host) set_segment(stays, graph_.segment_ns(group.front()), graph_.provenance(stays));
  const auto leave = [&](const std::vector<TaskId>& tasks, const std::vector<TaskId>& between) {
    if (tasks.empty()) return;
    const TaskId one = tasks[slot];
    for (const TaskId task : tasks) {
      if (task == one) continue;
      mark_gone(task, is_host(graph_.kind(task)) ? SegmentOf::keep : SegmentOf::take);
    }
    stand_in({tasks, one, one, between});
  };
  leave(found.members(), found.between());
  leave(found.calls(), {});
  return stays;
}

}  // namespace foretrace
