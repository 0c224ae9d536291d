// Waits between streams, for copies of recorded kernels: what streams waited for each other for in
// the recording, their copies wait for each other for, too.
//
//   before   s: a   c      after    s: a   c ... a'   c'         event waits: b of a, c of b;
//            t:   b                 t:   b ...    b'             b' of a', c' of b'
#pragma once

#include <map>
#include <span>
#include <vector>

#include "sim/edit/editor.h"
#include "sim/graph/links.h"

namespace foretrace::editing {

class CopiedWaits {
 public:
  explicit CopiedWaits(Editor& editor) : editor_(editor), graph_(editor.graph()) {}

  /// A run of copies begins. On each stream the first of them waits for all of `gates`. Copies of
  /// runs before stay known.
  void begin(std::vector<TaskId> gates = {});
  /// The same; the copies stand right before this recorded kernel and wait for what it waits for.
  void begin_before(TaskId kernel);
  /// The copy stands behind all copies so far.
  void put(TaskId kernel, TaskId copy);
  /// The recorded kernel is what is copied.
  void keep(TaskId kernel);
  /// The task waits for all streams of the run, or for what their first copies would wait for.
  void wait(TaskId task);
  /// The last of the run on each stream; without any the gates.
  [[nodiscard]] std::vector<TaskId> ends() const;

 private:
  [[nodiscard]] LaneId lane_of(TaskId task);
  void stand(TaskId kernel, TaskId copy);
  [[nodiscard]] bool is_copied(const Link& link) const;
  void carry(const Link& link, TaskId copy, bool is_own);
  void wait_for(TaskId task, std::span<const TaskId> sources);

  Editor& editor_;
  const TaskGraph& graph_;
  std::vector<TaskId> gates_;
  std::map<LaneId, TaskId> ends_;
  std::map<TaskId, TaskId> copies_;  // by recorded kernel
  TaskId earliest_ = none<TaskId>;   // of those
};

}  // namespace foretrace::editing
