// What most what-ifs on kernels do: look at kernels, give them new times, remove, replace, add and
// copy them together with their launches, and keep the sums that the note states. How the graph is
// changed is the Editor's business; what kernels and calls cost is this one's.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "models/editing/kernels/kernel_work.h"
#include "models/editing/kernels/launch_times.h"
#include "models/editing/what_if_input.h"
#include "models/hardware/costs/kernel_cost.h"
#include "sim/edit/editor.h"
#include "sim/graph/links.h"

namespace foretrace::editing {

/// A kernel that no recording shows.
struct ExtraKernel {
  std::string_view name;
  KernelWork work;
  Cost cost;
  std::int64_t host_ns = 0;       ///< host time of the framework before its launch call
  LaunchTimes launch = {-1, -1};  ///< below 0: as usual in the recording
};

class KernelEditor {
 public:
  explicit KernelEditor(const WhatIfInput& scenario);

  [[nodiscard]] const TaskGraph& graph() const { return graph_; }
  [[nodiscard]] const Accelerator* accelerator() const { return accelerator_; }
  [[nodiscard]] Editor& edit() { return editor_; }
  [[nodiscard]] const Editor& edit() const { return editor_; }

  /// Kernels (not collectives, copies or sets) in program order.
  [[nodiscard]] const std::vector<TaskId>& kernels() const { return kernels_; }
  [[nodiscard]] const KernelDescription& about(TaskId task) const {
    return descriptions_[index(graph_.work_id(task))];
  }
  [[nodiscard]] KernelClass class_of(TaskId task) const { return about(task).traits.kernel_class; }
  [[nodiscard]] std::string_view operator_of(TaskId task) const {
    return graph_.names()[graph_.work(task).operator_name];
  }
  [[nodiscard]] OperatorInputs inputs_of(TaskId task) const {
    return parse_inputs(graph_.names()[graph_.work(task).shapes]);
  }
  /// Bytes of one number of this kernel's data; 4 where its precision is not known.
  [[nodiscard]] double number_bytes(TaskId task) const;
  /// The call that launches this kernel and nothing else; none for graph launches.
  [[nodiscard]] TaskId own_call(TaskId kernel) const;

  /// Time to move bytes by a kernel of this class, with its ramp-up. Without an accelerator the
  /// bandwidth is the one that the graph's largest elementwise kernels reach; missing_cost if
  /// neither is known.
  [[nodiscard]] Result<Cost> moving_cost(double bytes, KernelClass kernel_class) const;

  void set(TaskId kernel, const Cost& cost);
  /// What the kernel does from now on, for whatever looks at it afterwards. Kernels of one recorded
  /// work and one `variant` get one work, which is asked for once.
  void describe(TaskId kernel, int variant, const std::function<KernelWork()>& now);
  /// The kernel goes, and its call once all that it launches goes. `host`: whether the host time
  /// before the call goes with it.
  void remove(TaskId kernel, SegmentOf host);
  /// A kernel with its launch before or after an existing one on the same thread and stream. Before
  /// it means: behind whatever that one waits for.
  TaskId add(TaskId neighbour, Place place, const ExtraKernel& extra);
  /// Share of the host time between replaced launches that stays; 0 at first.
  void keep_host(double share) { kept_host_ = share; }
  /// One kernel instead of several, with the host time before the first of them and the kept share
  /// of what lay between them. None if a wait lies between them, so that no kernel can take their
  /// place (see Editor): they stay, and are counted.
  TaskId replace(std::span<const TaskId> kernels, const ExtraKernel& extra);
  /// What does the kernel's work now: itself, what replace() put in its place, or none.
  [[nodiscard]] TaskId doing(TaskId kernel) const;
  /// The first of the kernels that replace() replaced with this one; a kernel by itself is its own.
  [[nodiscard]] TaskId first_replaced(TaskId kernel) const;
  /// A copy of a kernel and of its launch call with the host time before it, but for what is done
  /// at first use only, on the thread of `anchor` (a host task; of a call whose kernel was replaced
  /// the new call). None for kernels without a call of
  /// their own. The first kernel of a pass has what came before the pass in its host time:
  /// `host_time` false leaves that out.
  TaskId copy(TaskId kernel, TaskId anchor, Place place, bool host_time = true);

  /// The call of a kernel that add(), replace() or copy() put in (or of what was remembered); the
  /// kernel itself if it has none.
  [[nodiscard]] TaskId call_of_new(TaskId kernel) const;

  void remember(const Launched& put) { calls_of_new_[put.device] = put.call; }

  struct Sums {
    std::int64_t before_ns = 0;  ///< device time of kernels that changed or went
    std::int64_t after_ns = 0;   ///< of what they became and what was added
    std::size_t changed = 0;
    std::size_t removed = 0;
    std::size_t added = 0;
    std::size_t refused = 0;  ///< groups that replace() could not replace
  };
  [[nodiscard]] const Sums& sums() const { return sums_; }
  [[nodiscard]] bool untouched() const { return sums_.changed + sums_.removed + sums_.added == 0; }
  /// "12 kernels 3.40 ms -> 2.10 ms", and how many groups stay because of a wait.
  [[nodiscard]] std::string sums_text() const;

  [[nodiscard]] Change finish(std::string_view note);

 private:
  [[nodiscard]] WorkId work_of(const ExtraKernel& extra);
  [[nodiscard]] NewCall call_for(const ExtraKernel& extra);

  const TaskGraph& graph_;
  const Accelerator* accelerator_;
  std::vector<KernelDescription> descriptions_;
  Editor editor_;
  std::vector<TaskId> kernels_;
  std::map<TaskId, TaskId> calls_of_new_;
  struct Replaced {
    TaskId put{};
    TaskId first{};
  };
  [[nodiscard]] TaskId standing(TaskId call) const;
  std::map<TaskId, Replaced> replaced_;  // by what went
  std::map<std::tuple<std::string, std::string, std::string, std::string, Precision>, WorkId>
      new_works_;
  std::map<std::pair<WorkId, int>, WorkId> described_;
  double kept_host_ = 0;
  std::optional<LaunchTimes> usual_;
  std::optional<RepeatedLaunches> repeated_;
  Sums sums_;
};

[[nodiscard]] inline double to_ms(std::int64_t ns) { return static_cast<double>(ns) * 1e-6; }

/// measured x factor with a range, the ramp-up of its class kept; factor 1 is no change.
[[nodiscard]] Cost moved_share(std::int64_t measured_ns, KernelClass kernel_class, double factor);

}  // namespace foretrace::editing
