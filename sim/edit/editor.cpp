// What the parts of the editor share: places, and what is gone.
#include "sim/edit/editor.h"

#include "sim/core/text.h"

namespace foretrace {

void Editor::note(std::string_view text) { change_.notes.push_back(with_singulars(text)); }

Change Editor::finish() {
  Change change = std::move(change_);
  change_ = {};
  gone_.clear();
  inserted_at_.clear();
  moved_to_.clear();
  added_into_.clear();
  added_out_of_.clear();
  works_.clear();
  return change;
}

Editor::Position Editor::position_of(TaskId task) const {
  if (index(task) >= graph_.size()) return inserted_at_[index(task) - graph_.size()];
  return is_replaced(task) ? moved_to_[index(task)] : position(task, itself);
}

void Editor::mark_gone(TaskId task, SegmentOf segment) {
  if (gone_.empty()) gone_.assign(graph_.size(), false);
  gone_[index(task)] = true;
  change_.removed.push_back({task, segment});
}

void Editor::stand_in(StandIn group) {
  const Position place = position_of(group.exit);
  if (moved_to_.empty()) moved_to_.assign(graph_.size(), 0);
  for (const TaskId member : group.members) moved_to_[index(member)] = place;
  change_.stand_ins.push_back(std::move(group));
}

void Editor::add_tensor(Tensor tensor, std::string_view operator_name) {
  tensor.operator_name = change_.names.intern(operator_name);
  change_.new_tensors.push_back(tensor);
}

}  // namespace foretrace
