// Forward passes with the backward passes that undo them, and how a forward pass divides into
// segments or blocks of layers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "models/editing/kernels/kernel_editor.h"

namespace foretrace::editing {

/// A device of a job: rank and number.
using DeviceOfRank = std::pair<std::int32_t, std::int32_t>;
[[nodiscard]] inline DeviceOfRank device_of(const TaskGraph& graph, TaskId task) {
  const Lane& lane = graph.lane(task);
  return {lane.rank, lane.device};
}

/// Some kernel belongs to a backward pass or to an update.
[[nodiscard]] bool trains(const TaskGraph& graph);
/// Some kernel belongs to a forward pass, and none to the two: not so where no phase is known.
[[nodiscard]] bool only_infers(const TaskGraph& graph);

/// Kernels of one forward pass and of the backward pass after it, in program order, on one device.
struct TrainingPass {
  std::vector<TaskId> forward;
  std::vector<TaskId> backward;
  /// Forward kernels before this one are of layers that are not trained: no backward kernel undoes
  /// them or needs what they made.
  std::size_t trains_from = 0;
};

/// Passes that have both parts, in program order of their ends.
[[nodiscard]] std::vector<TrainingPass> find_passes(const KernelEditor& editor);
/// The same, where one has to end before the next begins: micro-batches that a stage of a pipeline
/// runs in a row are one pass, with the backward kernels that follow.
[[nodiscard]] std::vector<TrainingPass> find_passes_in_turn(const KernelEditor& editor);

/// A run of the forward kernels [begin, end) and the first backward kernel that needs it.
struct PassSegment {
  std::size_t begin = 0;
  std::size_t end = 0;
  TaskId needed_by = none<TaskId>;
};

/// `count` runs of about the same device time, of the layers that are trained. The backward pass
/// undoes them in reverse order, and spends on each the share of time that the forward pass does.
[[nodiscard]] std::vector<PassSegment> equal_segments(const KernelEditor& editor,
                                                      const TrainingPass& pass, std::size_t count);

/// One run per block that is trained: per child of the innermost module that holds most of the
/// forward pass, e.g. per transformer layer. Empty without at least two recorded modules.
[[nodiscard]] std::vector<PassSegment> block_segments(const KernelEditor& editor,
                                                      const TrainingPass& pass);

/// The backward kernel at which the backward pass comes to the forward kernel at `position`; none
/// where that is not trained. `with_call`: the next one that is launched by a call of its own, so
/// that work can go before it.
[[nodiscard]] TaskId mirror_of(const KernelEditor& editor, const TrainingPass& pass,
                               std::size_t position, bool with_call = true);

/// Matrix products and convolutions among these kernels: how deep a pass is.
[[nodiscard]] std::size_t count_products(const KernelEditor& editor,
                                         const std::vector<TaskId>& kernels);

/// Bytes of recorded tensors that forward[begin, end) allocates and that live on into the backward
/// pass; -1 if the trace records no tensors.
[[nodiscard]] double stashed_bytes(const KernelEditor& editor, const TrainingPass& pass,
                                   std::size_t begin, std::size_t end);

}  // namespace foretrace::editing
