// What tasks wait for, given to copies of them.
#pragma once

#include <functional>

#include "sim/edit/editor.h"
#include "sim/graph/links.h"

namespace foretrace {

/// What becomes of the recorded links of a task for its copy. Each is asked for whatever a link
/// names and may change it; false: the copy has no such thing.
struct CarryRules {
  std::function<bool(Point&)> moves;            ///< a source: false, and the link is not carried
  std::function<bool(DependencyKind)> carries;  ///< whether copies have links of this kind
  std::function<bool(Wait&)> adapts;            ///< place, lane and rank of a rule
};

/// Carries the task's dependencies and waits to its copy, but for those of its lane. What it counts
/// its lateness from goes where the copy has no such thing.
void carry_links(Editor& editor, const WaitIndex& waits, TaskId task, TaskId copy,
                 const CarryRules& rules);

}  // namespace foretrace
