// What policies for a memory budget share: who may leave a device, and how it comes back.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "models/editing/tensors/tensor_uses.h"
#include "models/policies/eviction/copy_lanes.h"
#include "models/policies/eviction/policy.h"

namespace foretrace::editing {

inline constexpr ParamInfo least_evicted_param = {.name = "least",
                                                  .type = ParamType::bytes,
                                                  .unit = "B",
                                                  .default_text = "64 KiB",
                                                  .doc = "Smaller tensors stay.",
                                                  .minimum = 0,
                                                  .maximum = 1e15};

/// What every policy that evicts assumes, and leaves out.
inline constexpr std::string_view reads_youngest_text =
    "A trace does not record operands: an operator is assumed to read the youngest tensors of the "
    "sizes of its recorded inputs, and a tensor is last used by the last launch before it is "
    "freed. What the forward pass left for an unknown use stays; if most of it does, this is an "
    "error.";
inline constexpr std::string_view search_time_text =
    "time to search for what to evict, and to keep the accounts";
inline constexpr std::string_view fragmentation_text =
    "fragmentation: a request fits whenever enough bytes are free";

struct EvictorOptions {
  std::int64_t least_bytes = 0;  ///< smaller tensors stay
  double bandwidth = 0;          ///< B/s of copies, each way; 0: nothing is copied
  double ahead = 0;  ///< copies back start when the device work until the use takes this many times
                     ///< as long as they do
  /// What the backward pass made may be made again too, although it takes maps that are long freed.
  bool remakes_backward = false;
};

/// Evicts tensors of forward and backward passes when a request does not fit, but for those whose
/// use is not known, and brings them back before a launch that uses them: made again by the kernels
/// that made them, or copied. What a launch uses stays until the last launch of its operator has
/// started.
class Evictor : public MemoryPolicy {
 public:
  Evictor(const TaskGraph& graph, const EvictorOptions& options);

  /// Refuses a trace in which most backward operators record no inputs, if they are to be repeated,
  /// or if no use is known of more than half of what the forward pass leaves to them.
  [[nodiscard]] Status check(std::string_view policy) const;

  [[nodiscard]] bool may_start(TaskId task, Simulation& simulation) override;
  void make_room(const MemoryPressure& pressure, Simulation& simulation) override;
  void on_start(TaskId task, Simulation& simulation) override;
  void on_end(TaskId task, Simulation& simulation) override;

 protected:
  /// Tensors with a smaller score go first; equal scores by id.
  [[nodiscard]] virtual double score(TensorId tensor, const Simulation& simulation) = 0;
  /// True if this tensor goes to the host instead of being made again later. Asked if it can be
  /// both.
  [[nodiscard]] virtual bool prefers_copy(TensorId /*tensor*/, const Simulation& /*simulation*/) {
    return false;
  }

  [[nodiscard]] const TaskGraph& graph() const { return graph_; }
  [[nodiscard]] const TensorUses& uses() const { return uses_; }
  [[nodiscard]] std::int64_t bytes_of(TensorId tensor) const;
  [[nodiscard]] std::int64_t idle_ns(TensorId tensor, const Simulation& simulation) const;
  [[nodiscard]] bool can_remake(TensorId tensor) const { return uses_.making(tensor).can_repeat; }
  /// Allocated before, but neither on the device nor on the host.
  [[nodiscard]] bool must_be_remade(TensorId tensor, const Simulation& simulation) const;
  /// The program will free it later or never.
  [[nodiscard]] bool is_wanted(TensorId tensor, const Simulation& simulation) const;
  /// Device time of making it again with all that has to be made again for it.
  [[nodiscard]] std::int64_t remake_ns(TensorId tensor, const Simulation& simulation);
  [[nodiscard]] std::int64_t copy_ns(TensorId tensor) const;
  /// Device work of operators that have yet to start until the next one that uses the tensor; the
  /// largest number if none does.
  [[nodiscard]] std::int64_t until_use_ns(TensorId tensor) const;
  /// How long the copies to the host that are under way still take.
  [[nodiscard]] std::int64_t copies_out_ns(const Simulation& simulation) const;

 private:
  enum class Freed : std::uint8_t { now, later, nothing };
  [[nodiscard]] bool may_leave(TensorId tensor, const Simulation& simulation) const;
  [[nodiscard]] bool can_copy() const { return options_.bandwidth > 0; }
  [[nodiscard]] bool is_born(TensorId tensor, const Simulation& simulation) const;
  /// The tensor is among those that may leave.
  void note_present(TensorId tensor);
  void drop_gone(const Simulation& simulation);
  [[nodiscard]] TensorId choose_victim(std::int32_t device, std::int32_t rank,
                                       Simulation& simulation);
  /// Evicts on that device until so much is free. What copies will free counts as later.
  Freed free_up(std::int64_t missing, std::pair<std::int32_t, std::int32_t> place, TaskId task,
                Simulation& simulation);
  /// Room for this tensor and so much more; notes what is missing if there is no hope.
  [[nodiscard]] bool find_room(TensorId tensor, std::int64_t more, TaskId task,
                               Simulation& simulation);
  [[nodiscard]] bool bring_back(TensorId tensor, TaskId task, Simulation& simulation);
  [[nodiscard]] bool remake(TensorId tensor, TaskId task, Simulation& simulation);
  void repeat(const OperatorRun& run, TaskId task, Simulation& simulation);
  void repeat_launch(TaskId launch, const OperatorRun& run, TaskId task, Simulation& simulation);
  /// False if a copy of it had to wait for work that stands behind something not launched yet: the
  /// call of that may itself wait for memory.
  [[nodiscard]] bool can_copy_now(TensorId tensor, const Simulation& simulation);
  void copy_out(TensorId tensor, TaskId task, Simulation& simulation);
  /// The copy itself, behind its dependencies.
  TaskId append_copy(TensorId tensor, LaneId lane, WorkId work,
                     std::span<const Dependency> dependencies, Simulation& simulation);
  void copy_in(TensorId tensor, TaskId task, Simulation& simulation);
  void find_demand();
  [[nodiscard]] std::int64_t demand_until_use(TensorId tensor);
  void fetch_ahead(TaskId task, Simulation& simulation);
  TaskId call_before(TaskId task, WorkId work, std::int64_t duration_ns, std::int64_t segment_ns,
                     Simulation& simulation);
  [[nodiscard]] TaskId next_on(LaneId stream, const Simulation& simulation);
  void wait_for_arrivals(const OperatorRun& run, TaskId device_task, Simulation& simulation,
                         std::vector<Dependency>* into);
  void pin(std::uint32_t run, int by);
  [[nodiscard]] std::pair<std::int32_t, std::int32_t> place_of(TensorId tensor) const;
  [[nodiscard]] const CopyPlaces& places_of(TensorId tensor);
  void drop_revived(Simulation& simulation);
  void use_workspaces(const OperatorRun& run, Simulation& simulation);
  [[nodiscard]] std::int64_t workspace_bytes(TensorId tensor, const Simulation& simulation) const;

  const TaskGraph& graph_;
  EvictorOptions options_;
  TensorUses uses_;
  std::vector<bool> is_movable_;                // per tensor
  std::vector<TensorId> present_;               // movable, born, and not yet known to be gone
  std::vector<bool> is_present_;                // per tensor
  std::vector<std::vector<TensorId>> born_in_;  // per task: movable tensors
  std::vector<std::int64_t> accessed_ns_;       // per tensor
  std::vector<std::uint32_t> pins_;             // per tensor
  std::vector<bool> on_host_;                   // per tensor: a copy of it is there
  std::vector<TaskId> leaving_;                 // per tensor: the copy that takes it away
  std::vector<TaskId> arriving_;                // per tensor: what brought it last
  std::vector<bool> busy_;                      // per tensor: being made again, or visited
  std::vector<bool> run_pinned_;                // per run
  std::vector<std::int64_t> device_before_ns_;  // per run: device work of runs before it
  std::uint32_t current_run_ = 0;
  std::vector<std::vector<TaskId>> on_stream_;  // per lane: device tasks in order
  std::vector<std::size_t> next_on_;            // per lane: index of the first not yet launched
  std::vector<std::pair<TaskId, TensorId>> copies_;  // to the host, by task
  std::vector<TensorId> revived_;                    // freed by the program, made again for others
  std::set<TensorId> away_;                          // on the host and not on the device
  std::map<std::pair<std::int32_t, std::int32_t>, CopyPlaces> places_;
  /// Per device and run: what is live while it is launched, if nothing is evicted.
  std::map<std::pair<std::int32_t, std::int32_t>, std::vector<std::int64_t>> live_at_;
  std::int64_t usual_segment_ns_ = 0;
  std::int64_t usual_launch_ns_ = 0;
  std::int64_t usual_lag_ns_ = 0;
  std::size_t kernels_ = 0;
  std::int64_t copies_out_until_ns_ = 0;
};

}  // namespace foretrace::editing
