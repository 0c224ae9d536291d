// Host tasks that wait for memory: who may go on, and who fails.
#include <algorithm>

#include "sim/engine/event/event_run.h"

namespace foretrace::engine {

/// False if the task is held back: it stays ready and is looked at again when something is freed.
bool EventRun::may_allocate(TaskId task) {
  if (index(task) >= static_tasks_) return true;
  Policy* const policy = options_.policy;
  if (policy != nullptr && !policy->may_start(task, *this)) {
    hold(task);
    return false;
  }
  if (open_[index(task)] != 0) {
    return false;  // the policy made it wait for what it appended
  }
  std::size_t budget = 0;
  std::int64_t missing = memory_.missing(task, budget);
  if (missing > 0 && policy != nullptr) {
    policy->make_room(memory_.pressure(task, budget, missing), *this);
    if (open_[index(task)] != 0) return false;
    missing = memory_.missing(task, budget);
  }
  if (missing > 0) {
    if (memory_.when_full(budget) == WhenFull::fail) {
      out_of_memory_ = Error{ErrorCode::unsupported, memory_.describe(task)};
    } else {
      hold(task);
    }
    return false;
  }
  const auto held = std::find_if(held_.begin(), held_.end(),
                                 [task](const Held& row) { return row.task == task; });
  if (held != held_.end()) {
    execution_.memory_waited_ns += now_ns_ - held->since_ns;
    held_.erase(held);
  }
  if (memory_.apply(task, now_ns_)) {
    admit_held();
  }
  return true;
}

void EventRun::hold(TaskId task) {
  const bool is_held =
      std::any_of(held_.begin(), held_.end(), [task](const Held& row) { return row.task == task; });
  if (!is_held) {
    held_.push_back({task, now_ns_});
    ++execution_.memory_waits;
  }
}

void EventRun::evict(TensorId tensor) {
  memory_.evict(tensor, now_ns_);
  admit_held();
}

bool EventRun::restore(TensorId tensor) {
  if (memory_.room_bytes(tensor) < graph_.context().tensors[index(tensor)].bytes) return false;
  memory_.restore(tensor, now_ns_);
  return true;
}

/// Those that wait are ready now; who does not fit is held again.
void EventRun::admit_held() {
  for (const Held& row : held_) {
    push(now_ns_, row.task, Happens::ready);
  }
}

}  // namespace foretrace::engine
