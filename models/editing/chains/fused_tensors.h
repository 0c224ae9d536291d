// Tensors that a fused kernel never allocates: what one of its parts writes for the next.
#pragma once

#include <cstddef>
#include <vector>

#include "models/editing/chains/fusion_chain.h"
#include "models/editing/kernels/kernel_editor.h"
#include "sim/edit/tensors.h"

namespace foretrace::editing {

/// What becomes of intermediates that the backward pass reads.
enum class Stashed : bool { stays, goes };

/// Collects chains while a what-if fuses them, then edits the tensors.
class FusedTensors {
 public:
  void add(const FusionChain& chain, Stashed stashed);
  /// Drops the results of inner kernels that are freed before anything after the chain is launched,
  /// so that only kernels of the chain can read them; where `goes` was said, also those that a
  /// backward pass frees, but for the chain's output (in-place kernels may follow the one that made
  /// it), masks and statistics. Nothing without recorded tensors.
  void edit(const KernelEditor& editor, TensorEditor& tensors) const;

 private:
  struct Chained {
    TaskId kernel{};
    TaskId last_call{};  ///< of its chain
    Stashed stashed = Stashed::stays;
    bool is_last = false;  ///< of its chain
  };
  /// Per task its chain, or null.
  using ByTask = std::vector<const Chained*>;
  [[nodiscard]] static std::vector<bool> find_outputs(const ByTask& chained,
                                                      const std::vector<TaskId>& makers,
                                                      const std::vector<Tensor>& tensors,
                                                      const std::vector<bool>& side);

  std::vector<Chained> kernels_;
};

}  // namespace foretrace::editing
