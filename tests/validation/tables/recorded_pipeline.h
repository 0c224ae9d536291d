// A recorded step of a pipelined job as a graph: who computes, sends and reduces, and who waits.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/result.h"
#include "sim/graph/task_graph.h"

namespace foretrace {

/// What a worker does; collectives and sends are transfers alone, without the waiting for partners.
enum class PipelineOp : std::uint8_t {
  forward,
  backward,
  forward_send,
  forward_receive,
  backward_send,
  backward_receive,
  gather_parameters,
  scatter_gradients,
  reduce_norms,
  reduce_embedding,
  clip,
  update,
  collect_garbage,
};
inline constexpr std::size_t pipeline_op_count = 13;
/// The name in the table of ByteDance's recordings; none: unknown.
[[nodiscard]] Result<PipelineOp> pipeline_op(std::string_view name);

/// One operation of the worker of a data-parallel rank and stage.
struct PipelineOperation {
  std::uint32_t data_rank = 0;
  std::uint32_t stage = 0;
  PipelineOp op = PipelineOp::forward;
  std::uint32_t number = 0;  ///< of its kind on its worker
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
};

/// A worker per data-parallel rank and stage; 1F1B in the recorded order. A transfer begins when
/// its last participant is there, and takes each its own time. Errors: an operation that is there
/// twice, a rule that closes a circle.
[[nodiscard]] Result<TaskGraph> recorded_pipeline(const std::vector<PipelineOperation>& operations,
                                                  std::uint32_t stages);

}  // namespace foretrace
