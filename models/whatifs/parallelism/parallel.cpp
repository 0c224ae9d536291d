// Parallel: the run of a trace spread over the ranks of a cluster.
//
//   before   s: forward --- backward b3 b2 b1 ------------------- update
//   after    s: forward --- backward b3 b2 b1 --- wait, copy ---- update        data=64
//            n:                        [all-reduce 1] [all-reduce 2]
//   before   s: gemm [all-reduce 3.0 ms: 2.4 ms of waiting for ranks that are not recorded] gemm
//   after    s: gemm [all-reduce 0.6 ms] gemm                                   recorded=true
#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "models/editing/parameters/model_state.h"
#include "models/whatifs/parallelism/data_parallel.h"
#include "models/whatifs/parallelism/machine.h"
#include "models/whatifs/parallelism/parallel_params.h"
#include "models/whatifs/parallelism/rank_share.h"
#include "models/whatifs/parallelism/recorded_groups.h"
#include "models/whatifs/parallelism/spread_job.h"
#include "models/whatifs/parallelism/staged_run.h"
#include "models/whatifs/parallelism/tensor_parallel.h"
#include "models/whatifs/what_if.h"

namespace foretrace::parallel_parts {
namespace {

bool has_collectives(const TaskGraph& graph) {
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (graph.kind(make_id<TaskId>(i)) == TaskKind::collective) return true;
  }
  return false;
}

Result<Change> keep_groups(const WhatIfInput& scenario, const ParamValues& params,
                           const Cluster& cluster) {
  Editor editor(scenario.graph);
  const auto ranks = static_cast<std::uint32_t>(params.integer(ranks_param));
  FORETRACE_TRY(auto note, editing::regroup(editor, cluster, ranks));
  editor.note(std::move(note));
  return editor.finish();
}

/// Left out, or given as what it is then.
bool is_unsaid(const ParamValues& params, const ParamInfo& row) {
  switch (row.type) {
    case ParamType::boolean: return !params.boolean(row);
    case ParamType::integer: return params.integer(row) == 0;
    case ParamType::number: return params.number(row) == 0;
    default: return !params.given(row);
  }
}

/// What describes a run of one device.
constexpr std::array one_device_params = {zero_param,          sequence_param,    layers_param,
                                          bucket_param,        bucket_view_param, parameters_param,
                                          gradient_bytes_param};

/// Copies of a recorded job are all that grows: what describes a run of one device says nothing.
Status check_grown(const ParamValues& params) {
  for (const ParamInfo& row : one_device_params) {
    const bool is_default = row.name == zero_param.name && params.integer(zero_param) == 0;
    if (!params.given(row) || is_default) continue;
    return Error{ErrorCode::unsupported,
                 fmt::format("{}: the trace has collectives of its own already, which growth keeps "
                             "as they are; expected a trace of one device",
                             row.name)};
  }
  return ok_status();
}

Result<Change> grow_recorded(const WhatIfInput& scenario, const ParamValues& params,
                             const Cluster& cluster) {
  FORETRACE_TRY(check_grown(params));
  Editor editor(scenario.graph);
  FORETRACE_TRY(auto grown,
                editing::grow_groups(editor, cluster,
                                     static_cast<std::uint32_t>(params.integer(data_param))));
  const double share = 1 / grown.growth;
  editing::RankMemory memory;
  if (grown.shares_states) memory.states = share;
  if (grown.shares_parameters) memory.weights = memory.gradients = share;
  if (share != 1) grown.note += editing::resize_rank_memory(editor, memory);
  editor.note(std::move(grown.note));
  editor.set_samples(grown.growth);
  return editor.finish();
}

/// Sizes of the groups.
struct Grid {
  std::uint32_t data = 1;
  std::uint32_t tensor = 1;
  std::uint32_t pipeline = 1;
  [[nodiscard]] double ranks() const { return double{1} * data * tensor * pipeline; }
};

/// Four micro-batches per stage keep the bubble below a fifth of a step.
constexpr std::uint32_t usual_per_stage = 4;

Result<SpreadOptions> spread_options(const editing::KernelEditor& editor, const ParamValues& params,
                                     const Grid& grid, const Cluster& cluster) {
  const auto count = [&params](const ParamInfo& row) {
    return static_cast<std::uint32_t>(params.integer(row));
  };
  const double given = params.number(gradient_bytes_param);
  SpreadOptions spread;
  spread.plan.data = grid.data;
  spread.plan.tensor = grid.tensor;
  spread.plan.pipeline = grid.pipeline;
  spread.plan.sequence = params.boolean(sequence_param);
  if (grid.data > 1) {
    spread.plan.sharding = static_cast<Sharding>(params.integer(zero_param));
    spread.plan.shard_size = count(shard_size_param);
  }
  FORETRACE_TRY(spread.schedule, find_schedule(params.text(schedule_param)));
  const std::uint32_t chunks = count(chunks_param);
  spread.chunks =
      chunks > 0 || grid.pipeline < 2 ? std::max(chunks, 1U) : spread.schedule->least_chunks;
  const std::uint32_t batches = count(micro_batches_param);
  const std::uint32_t usual = grid.pipeline > 1 ? usual_per_stage * grid.pipeline : 1;
  spread.micro_batches = batches > 0 ? batches : usual;
  spread.layers = static_cast<std::size_t>(params.integer(layers_param));
  spread.gradient_bytes = given > 0 ? given : editing::parameter_bytes(editor);
  spread.parameters = params.number(parameters_param);
  spread.bucket_bytes = params.number(bucket_param);
  spread.cluster = &cluster;
  return spread;
}

Result<Change> spread_stages(const WhatIfInput& scenario, const ParamValues& params,
                             const Cluster& cluster, const Grid& grid) {
  FORETRACE_TRY(auto spread,
                spread_options(editing::KernelEditor(scenario), params, grid, cluster));
  return editing::staged_run(scenario, std::move(spread),
                             {grid.tensor, params.boolean(sequence_param)});
}

Result<Change> spread_device(const WhatIfInput& scenario, const ParamValues& params,
                             const Cluster& cluster, const Grid& grid) {
  editing::KernelEditor editor(scenario);
  std::vector<std::string> notes;
  editing::DividedTensors divided;
  if (grid.tensor > 1) {
    FORETRACE_TRY(divided, editing::divide_tensors(editor, cluster,
                                                   {grid.tensor, params.boolean(sequence_param)}));
    notes.push_back(std::move(divided.note));
  }
  const double own = divided.own_parameters;
  FORETRACE_TRY(auto options, spread_options(editor, params, grid, cluster));
  options.own_parameters = own;
  const auto share = [&](Sharding from) {
    return options.plan.sharding < from ? 1 : 1.0 / options.plan.shards();
  };
  const double updated = share(Sharding::optimizer);
  const std::size_t updates = editing::scale_updates(editor, own * updated);
  if (options.plan.sharding != Sharding::none && updates == 0) {
    return Error{ErrorCode::no_match, "no kernels of an optimizer, which sharding divides"};
  }
  editing::RankMemory memory = {.weights = own * share(Sharding::parameters),
                                .gradients = own * share(Sharding::gradients),
                                .states = own * updated};
  if (grid.data > 1) {
    FORETRACE_TRY(auto done,
                  editing::spread_data(editor, options, params.boolean(bucket_view_param)));
    memory.buffer_bytes = done.buffer_bytes;
    notes.push_back(std::move(done.note));
  }
  editor.edit().set_samples(grid.data);
  editing::divide_parameters(editor, divided, updated);
  notes.back() += editing::resize_rank_memory(editor.edit(), memory);
  return editor.finish(fmt::format("{}", fmt::join(notes, "; ")));
}

Status check_given(const ParamValues& params, const Grid& grid) {
  if (params.given(micro_batches_param) && grid.pipeline < 2) {
    return Error{ErrorCode::bad_config,
                 "micro_batches: only with pipeline; gradient_accumulation runs several passes on "
                 "one device"};
  }
  for (const ParamInfo& row : {schedule_param, chunks_param}) {
    if (!params.given(row) || grid.pipeline > 1) continue;
    return Error{ErrorCode::bad_config, fmt::format("{}: only with pipeline", row.name)};
  }
  if (params.given(ranks_param)) {
    return Error{ErrorCode::bad_config,
                 "ranks: only with recorded=true, which keeps the groups as they are"};
  }
  if (params.integer(shard_size_param) > 0 && params.integer(zero_param) == 0) {
    return Error{ErrorCode::bad_config, "shard_size: only with zero, which says what is shared"};
  }
  return ok_status();
}

/// An option that says something only beside others.
struct Needed {
  const ParamInfo& row;
  bool is_met = false;
  std::string_view with;
};

/// Nothing that is said of the run of one device is ignored.
Status check_one_device(const ParamValues& params, const Grid& grid) {
  const std::int64_t zero = params.integer(zero_param);
  const bool copies = grid.data > 1;
  const bool stages = grid.pipeline > 1;
  const bool collects = copies && zero == 3;
  const bool fills_buckets = copies && !stages && !collects;
  constexpr std::string_view with_buckets =
      "data, and without pipeline and zero=3, which exchange whole layers";
  // Shards among one copy that is stated are the whole.
  const std::array needs = {
      Needed{zero_param, copies || params.given(data_param), "data, whose ranks divide"},
      Needed{shard_size_param, copies, "data, whose ranks divide"},
      Needed{sequence_param, grid.tensor > 1, "tensor, whose ranks divide tokens"},
      Needed{layers_param, stages || collects, "pipeline or zero=3, which need them"},
      Needed{bucket_param, fills_buckets, with_buckets},
      Needed{bucket_view_param, fills_buckets, with_buckets},
      Needed{parameters_param, copies, "data, whose ranks exchange them"},
      Needed{gradient_bytes_param, copies, "data, whose ranks exchange gradients"}};
  for (const Needed& needed : needs) {
    if (needed.is_met || is_unsaid(params, needed.row)) continue;
    return Error{ErrorCode::bad_config,
                 fmt::format("{}: only with {}", needed.row.name, needed.with)};
  }
  return ok_status();
}

Status check_recorded(const ParamValues& params) {
  const auto check = [&](std::span<const ParamInfo> rows) -> Status {
    for (const ParamInfo& row : rows) {
      if (!params.given(row)) continue;
      return Error{
          ErrorCode::bad_config,
          fmt::format("recorded=true keeps the groups as they are, expected no {}", row.name)};
    }
    return ok_status();
  };
  constexpr std::array group_params = {data_param,          tensor_param,   pipeline_param,
                                       micro_batches_param, schedule_param, chunks_param,
                                       shard_size_param};
  FORETRACE_TRY(check(group_params));
  return check(one_device_params);
}

Result<Change> spread(const WhatIfInput& scenario, const ParamValues& params,
                      const Cluster& cluster) {
  if (params.boolean(recorded_param)) {
    FORETRACE_TRY(check_recorded(params));
    return keep_groups(scenario, params, cluster);
  }
  const Grid grid{static_cast<std::uint32_t>(params.integer(data_param)),
                  static_cast<std::uint32_t>(params.integer(tensor_param)),
                  static_cast<std::uint32_t>(params.integer(pipeline_param))};
  FORETRACE_TRY(check_given(params, grid));
  if (grid.ranks() > cluster.accelerators()) {
    return Error{ErrorCode::no_match,
                 fmt::format("got {} ranks, expected at most {}", grid.ranks(),
                             accelerators_of(cluster, static_cast<std::uint64_t>(grid.ranks())))};
  }
  const bool was_parallel = has_collectives(scenario.graph);
  if (!was_parallel) {
    FORETRACE_TRY(check_one_device(params, grid));
  }
  if (grid.ranks() < 2 && was_parallel && !params.given(data_param)) {
    return Error{ErrorCode::bad_config,
                 "the trace has collectives of its own already, expected data=N copies of the job"};
  }
  if (grid.ranks() < 2 && !was_parallel) {
    return editing::KernelEditor(scenario).finish("one rank leaves the run on one device");
  }
  if (!was_parallel) {
    return grid.pipeline > 1 ? spread_stages(scenario, params, cluster, grid)
                             : spread_device(scenario, params, cluster, grid);
  }
  if (grid.tensor > 1 || grid.pipeline > 1) {
    return Error{ErrorCode::unsupported,
                 "tensor and pipeline: the trace has collectives of its own already, which stay as "
                 "they are; expected a trace of one device"};
  }
  return grow_recorded(scenario, params, cluster);
}

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  FORETRACE_TRY(const auto cluster, editing::machine_of(scenario, params.text(cluster_param)));
  auto change = spread(scenario, params, cluster);
  const Accelerator* const own = scenario.accelerator;
  if (change.ok() && own != nullptr && own->name != cluster.accelerator.name) {
    std::string stays = fmt::format(
        "kernels stay as recorded on {}; the network is that of {}, which has {}: move "
        "the run there to change them",
        own->name, cluster.name, cluster.accelerator.name);
    if (change->notes.empty()) change->notes.emplace_back();
    std::string& first = change->notes.front();  // the one that is always shown
    first += (first.empty() ? "" : "; ") + std::move(stays);
  }
  return change;
}

constexpr std::array<std::string_view, 9> assumptions = {
    "Every rank does what the recorded device does, at the same time: no rank is late.",
    "Ranks of a group are neighbours on the machine, and no other job uses its network.",
    "Gradients are ready in the reverse order of the forward pass, and are exchanged as by "
    "PyTorch's DistributedDataParallel.",
    "Products with recorded shapes take the measured time x the model of their part / the model of "
    "the whole; other kernels scale with the split; CPU time is unchanged.",
    "Sharded parameters are exchanged as by PyTorch's FSDP2: a unit per layer, collected one ahead "
    "in the backward pass, one reduction in flight.",
    "Every micro-batch of a pipeline is a recorded batch, which the first stage loads; layers with "
    "modules, or between attention, are whole; the ranks of other stages have hosts like this one.",
    "A call of a collective takes 6.6 times the host time of an elementwise operator of this "
    "trace.",
    "Where neither shapes nor sizes are recorded, a collective takes the shortest time of its "
    "place in all steps.",
    "Recorded groups that grow keep their measured time plus what the machine needs more; one copy "
    "waits for nobody; tensor, expert and pipeline groups keep their size. Shards of states and "
    "parameters shrink in memory; the update's time stays."};
constexpr std::array<std::string_view, 3> ignores = {
    "kernels and transfers that slow each other down while both run",
    "the last of more ranks arrives later: noise of hosts that were not recorded",
    "loading of data by more processes from the same disks"};
constexpr std::array params = {
    data_param,          zero_param,          tensor_param,  sequence_param,   pipeline_param,
    micro_batches_param, schedule_param,      chunks_param,  shard_size_param, layers_param,
    recorded_param,      ranks_param,         cluster_param, bucket_param,     bucket_view_param,
    parameters_param,    gradient_bytes_param};
constexpr std::array<std::string_view, 1> conflicts = {"replicate"};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "parallel",
    .summary = "The run of one device, spread over the ranks of a cluster.",
    .paper =
        "S. Li et al., PyTorch Distributed: Experiences on Accelerating Data Parallel Training, "
        "VLDB 2020; S. Rajbhandari et al., ZeRO, SC 2020; M. Shoeybi et al., Megatron-LM, 2019; "
        "D. Narayanan et al., Memory-Efficient Pipeline-Parallel DNN Training, ICML 2021",
    .recipe =
        "data: a kernel per gradient scales it into its bucket, full buckets are reduced on a "
        "stream of their own beside the backward pass, the optimizer waits for the last one. zero: "
        "gradients are reduced and scattered, every rank updates its share, parameters are "
        "collected; zero=3: a layer at a time, before it runs. tensor: products around attention "
        "and of feed-forward parts run by columns and rows, other kernels scale with the split, "
        "and the group adds up the result of each pair. pipeline: layers become stages on ranks of "
        "their own, which do every micro-batch in the order of the schedule. recorded: the trace's "
        "own collectives take the time that the cluster needs.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "the cluster file: a collective benchmark of the machine (nccl-tests).",
    .identity = {.setting = "data={copies},tensor=1,pipeline=1"},
    .params = params,
    .apply = apply,
    .change_job = spread_job,
    .stage = ApplyStage::spread,
    .conflicts = conflicts};

}  // namespace foretrace::parallel_parts
