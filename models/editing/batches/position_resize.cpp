#include "models/editing/batches/position_resize.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "models/editing/batches/activation_resize.h"
#include "models/editing/batches/batch_resize.h"
#include "models/editing/kernels/attention_core.h"
#include "models/editing/tensors/tensor_makers.h"
#include "sim/core/whole.h"

namespace foretrace::editing {

Result<PositionResizer> PositionResizer::make(KernelEditor& editor) {
  PositionResizer made(editor);
  for (const AttentionCore& core : find_attention_cores(editor)) {
    if (core.scores && core.scores->m == 1) {
      return Error{ErrorCode::no_match,
                   "the run decodes one position at a time, expected training or a prompt"};
    }
    // Positions are told from the width of a head by their number alone.
    if (core.scores && core.scores->m != core.scores->k && made.positions_ == 0) {
      made.positions_ = to_whole(core.scores->m);
    }
    made.single_.insert(core.kernels.begin(), core.kernels.end());
    made.scores_.insert(core.kernels.begin(), core.kernels.end() - (core.kernels.empty() ? 0 : 1));
  }
  for (const TaskId kernel : editor.kernels()) {
    if (editor.class_of(kernel) == KernelClass::attention) made.fused_.insert(kernel);
  }
  if (made.single_.empty() && made.fused_.empty()) {
    return Error{ErrorCode::no_match,
                 "no attention: neither a fused kernel nor a softmax between batched products, "
                 "expected a transformer"};
  }
  return made;
}

/// With as many more positions per sample: inside of attention in the last two dimensions, which are
/// those of its products, elsewhere where inputs have them apart from samples; else in the rows.
KernelWork PositionResizer::lengthened(TaskId kernel, const BatchResizer& rows,
                                       double factor) const {
  const bool in_core = single_.contains(kernel);
  OperatorInputs inputs = editor_->inputs_of(kernel);
  bool is_apart = false;
  for (auto& tensors : inputs.tensors) {
    for (Dims& dims : tensors) {
      if (dims.size() <= 2) continue;
      bool found = false;
      for (std::size_t i = in_core ? dims.size() - 2 : 1; i < dims.size(); ++i) {
        if (dims[i] != positions_ || (found && !in_core)) continue;
        dims[i] = resized_size(dims[i], factor);
        found = is_apart = true;
      }
    }
  }
  return is_apart ? same_work_on(*editor_, kernel, inputs) : rows.resized_work(kernel, factor);
}

Status PositionResizer::resize(const PositionFactors& factors) {
  const BatchResizer resizer(*editor_, 0);
  for (const TaskId kernel : editor_->kernels()) {
    const Phase phase = editor_->graph().phase(kernel);
    if (phase == Phase::update || phase == Phase::communication) continue;
    const bool fused = fused_.contains(kernel);
    const bool single = single_.contains(kernel);
    const double factor = fused    ? factors.fused_pairs
                          : single ? factors.single_pairs
                                   : factors.rows;
    if (fused || single) attention_ns_ += editor_->graph().duration_ns(kernel);
    const auto resized = resizer.resized(kernel, factor);
    time_.add(resized.growth, editor_->graph().duration_ns(kernel));
    if (resized.growth == Growth::fixed) continue;
    editor_->set(kernel, resized.cost);
    // Fewer pairs than rows leave are those of other rows; more are of longer ones.
    const bool is_longer =
        factors.single_pairs != factors.rows && stays_whole(positions_, factors.rows);
    if (factors.rows == 1 || !(is_longer || resizer.leaves_whole(factors.rows))) continue;
    // Attention that does not grow as its rows do is no attention of more samples.
    if ((fused || single) && factor != factors.rows && !is_longer) continue;
    editor_->describe(kernel, single ? 1 : 0, [&] {
      return is_longer ? lengthened(kernel, resizer, factors.rows)
                       : resizer.resized_work(kernel, factors.rows);
    });
  }
  if (editor_->untouched()) {
    return Error{ErrorCode::no_match, "no forward or backward kernel works on positions"};
  }
  transfers_ = resize_transfers(editor_->edit(), factors.rows);
  const auto copied = [&](TaskId copy) {
    return single_.contains(copy) ? factors.single_pairs : factors.rows;
  };
  copies_ = resize_copies(*editor_, resizer, copied, time_);
  return ok_status();
}

// What a kernel inside of attention writes has a number for each pair of positions.
void PositionResizer::resize_memory(TensorEditor& tensors, const PositionFactors& factors) const {
  const std::vector<TaskId> makers = find_makers(*editor_);
  resize_tensors(tensors, editor_->graph(), [&](std::size_t tensor) {
    return scores_.contains(makers[tensor]) ? factors.single_pairs : factors.rows;
  });
}

}  // namespace foretrace::editing
