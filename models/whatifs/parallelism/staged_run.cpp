// One forward, one backward (torch.distributed.pipelining's Schedule1F1B). A tensor group divides
// the kernels first; what it makes of them is then cut into stages.
//
//   before   rank 0: [f1 f2][b2 b1] update
//   after    rank 0: [f1][f1]          [b1][b1] update
//            rank 1:     [f2][b2][f2][b2] update                           pipeline=2
#include "models/whatifs/parallelism/staged_run.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "models/whatifs/parallelism/machine.h"
#include "models/whatifs/parallelism/network_calls.h"
#include "models/whatifs/parallelism/rank_share.h"
#include "models/whatifs/parallelism/tensor_parallel.h"

namespace foretrace::editing {
namespace {

/// The run as a rank of a tensor group does it; `own`: its share of all parameters.
Result<Committed> divided_run(const WhatIfInput& input, const Cluster& cluster,
                              const TensorOptions& options, double& own) {
  if (options.ranks < 2) return Committed{input.graph, {}, {}, {}};
  KernelEditor editor(input);
  FORETRACE_TRY(const auto divided, divide_tensors(editor, cluster, options));
  own = divided.own_parameters;
  scale_updates(editor, own);
  divide_parameters(editor, divided, 1);
  static_cast<void>(resize_rank_memory(editor.edit(), {own, own, own}));
  return commit(input.graph, editor.finish(divided.note));
}

std::string note_of(const SpreadRun& run, const SpreadOptions& options, const Cluster& cluster) {
  std::string stages;
  for (const std::int64_t ns : run.stage_ns) {
    stages += fmt::format("{}{:.2f}", stages.empty() ? "" : ", ", to_ms(ns));
  }
  return fmt::format(
      "{} stages of a pipeline (layers from {}), {} ms of kernels per micro-batch; {} "
      "micro-batches of the recorded batch each, in the order of {}; {:.2f} ms of transfers per "
      "step on {}",
      options.plan.pipeline, to_string(run.evidence), stages, options.micro_batches,
      options.schedule->name, to_ms(run.transferred_ns), cluster.machine);
}

}  // namespace

Result<Change> staged_run(const WhatIfInput& input, SpreadOptions spread,
                          const TensorOptions& tensor) {
  const Cluster& cluster = *spread.cluster;
  double own = 1;
  FORETRACE_TRY(const auto divided, divided_run(input, cluster, tensor, own));
  // Those that are stated are all of the group's; those of the run are divided with it.
  if (spread.parameters > 0) spread.own_parameters = own;
  const KernelEditor editor({divided.graph, input.accelerator, input.catalogue});
  spread.time_of = [&cluster](const CollectiveCall& call) {
    const TransferTime time = transfer_time(cluster, call);
    return SpreadTime{time.ns, time.trust};
  };
  spread.launch = usual_launch(divided.graph);
  spread.call_host_ns = collective_host_ns(editor);
  spread.copy_host_ns = usual_host_ns(editor);
  spread.low = &divided.low;
  spread.high = &divided.high;
  FORETRACE_TRY(auto run, spread_program(editor, spread));
  Change change;
  change.notes.push_back(note_of(run, spread, cluster));
  change.samples = double{1} * spread.plan.data * spread.micro_batches;
  change.successor = std::make_shared<const Successor>(
      Successor{std::move(run.graph), std::move(run.low), std::move(run.high)});
  return change;
}

}  // namespace foretrace::editing
