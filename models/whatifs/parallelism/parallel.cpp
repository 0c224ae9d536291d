// Parallel: the run of a trace spread over the ranks of a cluster.
//
//   before   s: forward --- backward b3 b2 b1 ------------------- update
//   after    s: forward --- backward b3 b2 b1 --- wait, copy ---- update        data=64
//            n:                        [all-reduce 1] [all-reduce 2]
//   before   s: gemm [all-reduce 3.0 ms: 2.4 ms of waiting for ranks that are not recorded] gemm
//   after    s: gemm [all-reduce 0.6 ms] gemm                                   recorded=true
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "models/whatifs/optimization.h"
#include "models/whatifs/parallelism/data_parallel.h"
#include "models/whatifs/parallelism/machine.h"
#include "models/whatifs/parallelism/recorded_groups.h"

namespace foretrace {
namespace {

constexpr ParamInfo cluster_param = {
    .name = "cluster",
    .type = ParamType::text,
    .default_text = "recording",
    .doc =
        "A name of configs/clusters or a .json file; recording: the usual machine of the "
        "recorded accelerator.",
    .config = "clusters"};
constexpr ParamInfo data_param = {.name = "data",
                                  .type = ParamType::integer,
                                  .unit = "1",
                                  .default_text = "1",
                                  .doc = "Ranks that each do the recorded batch.",
                                  .minimum = 1,
                                  .maximum = 1e6};
constexpr ParamInfo zero_param = {
    .name = "zero",
    .type = ParamType::integer,
    .unit = "1",
    .default_text = "0",
    .doc = "What data-parallel ranks divide: 1 optimizer states, 2 and gradients; 0 nothing.",
    .minimum = 0,
    .maximum = 2};
constexpr ParamInfo recorded_param = {
    .name = "recorded",
    .type = ParamType::boolean,
    .default_text = "false",
    .doc =
        "Keep the recorded groups: collectives take the cluster's time, waiting for ranks that "
        "are not recorded goes."};
constexpr ParamInfo ranks_param = {
    .name = "ranks",
    .type = ParamType::integer,
    .unit = "1",
    .default_text = "0",
    .doc = "With recorded: ranks of a group whose size the trace does not tell; 0: its largest.",
    .minimum = 0,
    .maximum = 1e6};
constexpr ParamInfo bucket_param = {.name = "bucket",
                                    .type = ParamType::bytes,
                                    .unit = "MiB",
                                    .default_text = "25 MiB",
                                    .doc = "Gradients go together once they have this size.",
                                    .minimum = 1,
                                    .maximum = 1e15};
constexpr ParamInfo bucket_view_param = {
    .name = "bucket_view",
    .type = ParamType::boolean,
    .default_text = "false",
    .doc = "Gradients live in the buckets, so that nothing is copied."};
constexpr ParamInfo parameters_param = {
    .name = "parameters",
    .unit = "1",
    .default_text = "0",
    .doc = "Trained parameters, where the trace has no shapes; 0: from the trace.",
    .minimum = 0,
    .maximum = 1e15};
constexpr ParamInfo gradient_bytes_param = {.name = "gradient_bytes",
                                            .unit = "B",
                                            .default_text = "4",
                                            .doc = "Of one number of a gradient.",
                                            .minimum = 1,
                                            .maximum = 8};

bool has_collectives(const TaskGraph& graph) {
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (graph.kind(make_id<TaskId>(i)) == TaskKind::collective) return true;
  }
  return false;
}

/// Groups of the recorded job, all of one size; 0: several sizes, or not known.
std::uint32_t only_group_size(const TaskGraph& graph) {
  std::uint32_t size = 0;
  for (const Communicator& group : graph.context().communicators) {
    if (size != 0 && group.size != size) return 0;
    size = group.size;
  }
  return size;
}

Result<Change> keep_groups(const Scenario& scenario, const ParamValues& params,
                           const Cluster& cluster, double growth) {
  Editor editor(scenario.graph);
  const auto ranks = static_cast<std::uint32_t>(params.integer(ranks_param));
  auto note = editing::regroup(editor, cluster, {growth, ranks});
  if (!note) return std::move(note).error();
  editor.note(*std::move(note));
  if (growth != 1) editor.set_samples(growth);
  return editor.finish();
}

Result<Change> grow_recorded(const Scenario& scenario, const ParamValues& params,
                             const Cluster& cluster) {
  const auto transfers = editing::find_transfers(scenario.graph, "kind=collective");
  if (!transfers) return transfers.error();
  const auto splitting = editing::layer_splitting(scenario.graph, *transfers);
  if (!splitting.empty()) return editing::cannot_grow(scenario.graph, splitting);
  if (params.integer(zero_param) > 0) {
    return Error{
        ErrorCode::unsupported,
        "zero: the trace has collectives of its own already, which growth keeps as they are; "
        "expected a trace of one device"};
  }
  const std::uint32_t size = only_group_size(scenario.graph);
  const auto data = static_cast<double>(params.integer(data_param));
  if (size < 2) {
    return Error{ErrorCode::unsupported,
                 "the trace has collectives of several groups, or of groups of unknown size, so "
                 "that data does not tell which grow; expected recorded=true, or a trace of one "
                 "device"};
  }
  return keep_groups(scenario, params, cluster, data / size);
}

Result<Change> spread(const Scenario& scenario, const ParamValues& params, const Cluster& cluster) {
  if (params.boolean(recorded_param)) {
    if (params.given(data_param) || params.given(zero_param)) {
      return Error{ErrorCode::bad_config,
                   "recorded=true keeps the groups as they are, expected neither data nor zero"};
    }
    return keep_groups(scenario, params, cluster, 1);
  }
  const auto data = static_cast<std::uint32_t>(params.integer(data_param));
  if (data > cluster.accelerators()) {
    return Error{ErrorCode::no_match,
                 fmt::format("got {} ranks, expected at most the {} accelerators of {}", data,
                             cluster.accelerators(), cluster.name)};
  }
  const bool was_parallel = has_collectives(scenario.graph);
  if (data < 2 && was_parallel) {
    return Error{ErrorCode::no_match,
                 "data=1 is less than the ranks of the recorded groups, expected at least as many"};
  }
  if (was_parallel) return grow_recorded(scenario, params, cluster);
  editing::KernelEditor editor(scenario);
  if (data < 2) return editor.finish("data=1 leaves the run on one device");
  const editing::DataParallel options{
      .ranks = data,
      .sharding = static_cast<std::uint32_t>(params.integer(zero_param)),
      .bucket_bytes = params.number(bucket_param),
      .bucket_view = params.boolean(bucket_view_param),
      .gradient_bytes = params.number(gradient_bytes_param),
      .parameters = params.number(parameters_param)};
  auto note = editing::spread_data(editor, cluster, options);
  if (!note) return std::move(note).error();
  editor.edit().set_samples(data);
  return editor.finish(*std::move(note));
}

Result<Change> apply(const Scenario& scenario, const ParamValues& params) {
  const auto cluster = editing::machine_of(scenario, params.text(cluster_param));
  if (!cluster) return cluster.error();
  auto change = spread(scenario, params, *cluster);
  const Accelerator* const own = scenario.accelerator;
  if (change.ok() && own != nullptr && own->name != cluster->accelerator.name) {
    change->notes.push_back(
        fmt::format("kernels stay as recorded on {}; the network is that of {}, which has {}: add "
                    "--accelerator "
                    "to move them",
                    own->name, cluster->name, cluster->accelerator.name));
  }
  return change;
}

constexpr std::array<std::string_view, 5> assumptions = {
    "Every rank does what the recorded device does, at the same time: nobody waits for a late "
    "rank.",
    "Ranks of a group lie next to each other on the machine and have its network for themselves.",
    "Gradients are ready in the reverse order of the forward pass, and go as PyTorch's "
    "DistributedDataParallel sends them.",
    "A call of a collective takes 6.6 times the host time of an elementwise operator of this "
    "trace.",
    "Where neither shapes nor sizes are recorded, a collective takes the shortest time of its "
    "place "
    "in all steps."};
constexpr std::array<std::string_view, 3> ignores = {
    "kernels and transfers that slow each other down while both run",
    "the last of more ranks arrives later: noise of hosts that were not recorded",
    "loading of data by more processes from the same disks"};
constexpr std::array params = {data_param,        zero_param,       recorded_param,
                               ranks_param,       cluster_param,    bucket_param,
                               bucket_view_param, parameters_param, gradient_bytes_param};
constexpr std::array<std::string_view, 1> conflicts = {"replicate"};

}  // namespace

namespace optimizations {

extern const OptimizationInfo parallel;
constinit const OptimizationInfo parallel = {
    .name = "parallel",
    .summary = "The run of one device spread over the ranks of a cluster.",
    .paper =
        "S. Li et al., PyTorch Distributed: Experiences on Accelerating Data Parallel Training, "
        "VLDB 2020; S. Rajbhandari et al., ZeRO, SC 2020",
    .recipe =
        "data: a kernel per gradient scales it into its bucket, full buckets are reduced on a "
        "stream of their own beside the backward pass, the optimizer waits for the last one. zero: "
        "gradients are reduced and scattered, every rank updates its share, parameters are "
        "collected. recorded: the trace's own collectives take the time that the cluster needs.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "the cluster file: a collective benchmark of the machine (nccl-tests).",
    .params = params,
    .apply = apply,
    .stage = ApplyStage::schedule,
    .conflicts = conflicts};

}  // namespace optimizations
}  // namespace foretrace
