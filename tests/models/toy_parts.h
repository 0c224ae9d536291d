// A rank of a job whose ranks hold parts of layers.
#pragma once

#include <cstdint>

#include "tests/models/toy_run.h"

namespace foretrace::test {

/// One rank of 8 = 4 (parts of a layer) x 2 (replicas): two all-reduces of activations in forward,
/// one of gradients in backward, on streams of their own.
inline TaskGraph tensor_parallel(bool has_replicas) {
  ToyRun run;
  const auto compute = run.stream();
  const auto network = run.add_stream(20);
  const auto parts = run.builder().add_communicator({"parts", 4, {0}});
  const auto replicas = run.builder().add_communicator({"replicas", 2, {0}});
  const auto reduce = [&](std::uint32_t communicator, TaskId made) {
    run.use_stream(network);
    const auto task = run.kernel({.name = "ncclDevKernel_AllReduce",
                                  .duration_ns = 300'000,
                                  .kind = TaskKind::collective,
                                  .collective = CollectiveKind::all_reduce,
                                  .communicator = communicator,
                                  .bytes = 1 << 20});
    run.wait_for(task, made);
    run.use_stream(compute);
    return task;
  };
  for (int layer = 0; layer < 2; ++layer) {
    const auto made = run.kernel({.name = "gemm", .duration_ns = 100'000});
    const auto reduced = reduce(parts, made);
    run.wait_for(run.kernel({.name = "add", .duration_ns = 10'000}), reduced);
  }
  const auto gradient =
      run.kernel({.name = "gemm", .duration_ns = 100'000, .phase = Phase::backward});
  if (has_replicas) reduce(replicas, gradient);
  run.builder().add_rank_class({.first_rank = 0, .multiplicity = 1});
  return run.build();
}

}  // namespace foretrace::test
