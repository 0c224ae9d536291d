// Sparse aggregation: all-reduces of gradients become sums of the blocks that are not all zero.
//
//   before   compute  [backward]                            [update]
//            network            [all-reduce, ring    12 ms ]
//   after    compute  [backward][find blocks]          [update]
//            network                        [sum 5 ms ]            density=0.2
//   Finding reads the gradients once on the stream that makes them. The sum lies in the buffer:
//   blocks that are zero for everybody stay where they are. An all-gather adds up on the device.
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "models/editing/kernels/kernel_editor.h"
#include "models/editing/transfers/gradient_transfers.h"
#include "models/hardware/collectives/sparse_sum.h"
#include "models/whatifs/communication/codec_kernels.h"
#include "models/whatifs/what_if.h"
#include "sim/core/whole.h"

namespace foretrace::sparse_aggregation_parts {
namespace {

constexpr ParamInfo density_param = {
    .name = "density",
    .unit = "1",
    .doc = "Measured share of one worker's blocks of gradients that are not all zero.",
    .minimum = 0,
    .maximum = 1};
constexpr ParamInfo overlap_param = {
    .name = "overlap",
    .unit = "1",
    .default_text = "0",
    .doc = "Share of these that all workers have in common; the others lie independently.",
    .minimum = 0,
    .maximum = 1,
    .optimistic = "1",
    .pessimistic = "0"};
constexpr ParamInfo block_param = {.name = "block",
                                   .type = ParamType::integer,
                                   .unit = "1",
                                   .default_text = "256",
                                   .doc = "Numbers of a block; 1: single numbers, as of top-k.",
                                   .minimum = 1,
                                   .maximum = 1e9};
constexpr ParamInfo index_bytes_param = {.name = "index_bytes",
                                         .type = ParamType::bytes,
                                         .unit = "B",
                                         .default_text = "4 B",
                                         .doc = "Bytes of the index that is sent with a block.",
                                         .minimum = 0,
                                         .maximum = 1024};
constexpr ParamInfo method_param = {
    .name = "method",
    .type = ParamType::text,
    .default_text = "servers",
    .doc = "What aggregates: servers, the switches of the network, or every worker by itself.",
    .choices = "servers|switch|all_gather"};
constexpr ParamInfo servers_param = {
    .name = "servers",
    .type = ParamType::integer,
    .unit = "1",
    .default_text = "0",
    .doc = "Servers of their own, each with the link of a worker; 0: as many as workers.",
    .minimum = 0,
    .maximum = 1e6};
constexpr ParamInfo workers_param = {
    .name = "workers",
    .type = ParamType::integer,
    .unit = "1",
    .default_text = "0",
    .doc = "Number of workers, where the trace does not contain it; 0: from the trace.",
    .minimum = 0,
    .maximum = 1e6};
using editing::latency_param;
using editing::link_bandwidth_param;

struct Settings {
  SparseBlocks blocks;
  SparseMethod method = SparseMethod::servers;
  double servers = 0;
  std::uint32_t workers = 0;
  std::int64_t latency_ns = 0;
  double link_bandwidth = 0;
};

/// Bytes of all transfers that a worker's fullest link carries, by who adds up.
struct Carried {
  double buffers = 0;
  double ring = 0;
  double servers = 0;
  double network = 0;
  double all_gather = 0;
};

class Aggregator {
 public:
  Aggregator(const WhatIfInput& scenario, const std::vector<editing::Transfer>& sums,
             const Settings& settings)
      : editor_(scenario),
        graph_(scenario.graph),
        sums_(sums),
        settings_(settings),
        kernels_(editor_, sums) {}

  Result<Change> run() {
    const editing::MovingTimes moving(graph_, sums_);
    for (const editing::Transfer& transfer : sums_) {
      FORETRACE_TRY(aggregate(transfer, moving.of(transfer)));
    }
    if (changed_ == 0) {
      return Error{ErrorCode::no_match,
                   "every group that reduces gradients has one rank, which sends nothing"};
    }
    return editor_.finish(fmt::format(
        "{} all-reduces of gradients {:.2f} ms -> {:.2f} ms; {:.3g} of the blocks come back; the "
        "fullest link of {:.1f} MB of gradients carries {:.1f} MB with {}: a ring {:.1f}, servers "
        "{:.1f}, switches {:.1f}, an all-gather {:.1f}; {} searches for blocks{}, {:.2f} ms{}",
        changed_, editing::to_ms(before_), editing::to_ms(after_), most_union_,
        carried_.buffers * 1e-6, chosen(carried_) * 1e-6, name_of(settings_.method),
        carried_.ring * 1e-6, carried_.servers * 1e-6, carried_.network * 1e-6,
        carried_.all_gather * 1e-6, kernels_.encoders(),
        kernels_.decoders() > 0 ? fmt::format(" and {} additions", kernels_.decoders()) : "",
        editing::to_ms(kernels_.ns()), waiting_note(waited_)));
  }

 private:
  static std::string_view name_of(SparseMethod method) {
    switch (method) {
      case SparseMethod::servers: return "servers";
      case SparseMethod::network: return "switches";
      case SparseMethod::all_gather: return "an all-gather";
    }
    return "";
  }
  [[nodiscard]] double chosen(const Carried& carried) const {
    switch (settings_.method) {
      case SparseMethod::servers: return carried.servers;
      case SparseMethod::network: return carried.network;
      case SparseMethod::all_gather: return carried.all_gather;
    }
    return 0;
  }

  [[nodiscard]] Result<double> workers_of(TaskId transfer) const {
    const auto& all = graph_.context().communicators;
    const std::uint32_t at = graph_.work(transfer).communicator;
    const std::uint32_t known = at < all.size() ? all[at].size : 0;
    if (known > 0) return static_cast<double>(known);
    if (settings_.workers > 0) return static_cast<double>(settings_.workers);
    return Error{ErrorCode::missing_cost,
                 "the trace does not contain the number of ranks that reduce gradients, expected "
                 "the parameter workers"};
  }

  /// What the links carry of this buffer, by every method, and its share of the chosen one.
  [[nodiscard]] Carried carry(double buffer, const SparseBlocks& blocks, double workers) const {
    const double servers = settings_.servers > 0 ? settings_.servers : workers;
    const auto by = [&](SparseMethod method) {
      return buffer * sparse_load(method, blocks, workers, servers).fullest();
    };
    return {buffer, buffer * ring_load(workers), by(SparseMethod::servers),
            by(SparseMethod::network), by(SparseMethod::all_gather)};
  }

  [[nodiscard]] SparseBlocks blocks_of(TaskId transfer) const {
    SparseBlocks blocks = settings_.blocks;
    const Precision precision = editing::summed_precision(graph_, transfer);
    blocks.number_bytes = precision == Precision::unknown ? 4 : bytes_per_number(precision);
    return blocks;
  }

  Status aggregate(const editing::Transfer& transfer, std::int64_t moving) {
    FORETRACE_TRY(const auto workers, workers_of(transfer.task));
    if (workers <= 1) return ok_status();
    const double ring = ring_load(workers);
    const bool is_recorded = graph_.work(transfer.task).bytes >= 0;
    // A link tells what passed it, which is more than the buffer.
    const double buffer =
        transferred_bytes(graph_, transfer.task, moving, settings_.link_bandwidth) /
        (is_recorded ? 1 : ring);
    if (!(buffer > 0)) {
      if (is_recorded) return ok_status();
      return Error{ErrorCode::missing_cost,
                   "the trace does not contain the bytes of all-reduces, expected link_bandwidth "
                   "(bytes then follow from the transfer's time)"};
    }
    const SparseBlocks blocks = blocks_of(transfer.task);
    const Carried carried = carry(buffer, blocks, workers);
    count(carried, union_density(blocks, workers));
    set_time(transfer, moving, chosen(carried) / carried.ring);
    FORETRACE_TRY(kernels_.encode(transfer, buffer, "find blocks of gradients"));
    if (settings_.method != SparseMethod::all_gather) return ok_status();
    const double received = (workers - 1) * blocks.density * buffer;
    return kernels_.decode(transfer, adding_passes * received, "add blocks of gradients");
  }

  void set_time(const editing::Transfer& transfer, std::int64_t moving, double share) {
    const std::int64_t old = graph_.duration_ns(transfer.task);
    const std::int64_t latency = std::min(moving, settings_.latency_ns);
    const std::int64_t now =
        old - moving + latency + to_whole(static_cast<double>(moving - latency) * share);
    // As compressed transfers, whose time follows their bytes the same way.
    editor_.edit().set_duration(transfer.task, now, {Provenance::scaled, 0.9F, 1.2F});
    before_ += old;
    after_ += now;
    waited_ += old - moving;
    ++changed_;
  }

  void count(const Carried& carried, double all) {
    carried_.buffers += carried.buffers;
    carried_.ring += carried.ring;
    carried_.servers += carried.servers;
    carried_.network += carried.network;
    carried_.all_gather += carried.all_gather;
    most_union_ = std::max(most_union_, all);
  }

  editing::KernelEditor editor_;
  const TaskGraph& graph_;
  const std::vector<editing::Transfer>& sums_;
  const Settings& settings_;
  CodecKernels kernels_;
  Carried carried_;
  double most_union_ = 0;
  std::int64_t before_ = 0;
  std::int64_t after_ = 0;
  std::int64_t waited_ = 0;
  std::size_t changed_ = 0;
};

SparseMethod method_of(std::string_view name) {
  if (name == "switch") return SparseMethod::network;
  return name == "all_gather" ? SparseMethod::all_gather : SparseMethod::servers;
}

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  std::vector<editing::Transfer> sums = editing::find_gradient_transfers(scenario.graph);
  const bool reduces = !sums.empty();
  std::erase_if(sums, [&](const editing::Transfer& transfer) {
    return scenario.graph.work(transfer.task).collective != CollectiveKind::all_reduce;
  });
  if (sums.empty()) {
    return Error{ErrorCode::no_match,
                 reduces ? "gradients are reduce-scattered: each rank receives a part of the sum, "
                           "expected all-reduces, which sums by blocks replace"
                         : "no all-reduce of gradients, expected a trace of data-parallel training "
                           "with a backward pass"};
  }
  const Settings settings{
      .blocks = {.density = params.number(density_param),
                 .overlap = params.number(overlap_param),
                 .numbers = static_cast<double>(params.integer(block_param)),
                 .index_bytes = static_cast<double>(params.integer(index_bytes_param))},
      .method = method_of(params.text(method_param)),
      .servers = static_cast<double>(params.integer(servers_param)),
      .workers = static_cast<std::uint32_t>(params.integer(workers_param)),
      .latency_ns = params.integer(latency_param),
      .link_bandwidth = params.number(link_bandwidth_param)};
  return Aggregator(scenario, sums, settings).run();
}

constexpr std::array<std::string_view, 5> assumptions = {
    "The recorded all-reduce is a ring, whose links carry 2 (n - 1) / n of the buffer each way; "
    "the part of its time beyond the latency follows the fullest link.",
    "Blocks flow through servers or switches while others are still on their way, both directions "
    "at once; a block of 256 numbers and its 4-byte index are assumed.",
    "Non-zero blocks that workers do not have in common lie independently of each other.",
    "Finding blocks reads the gradients once, at the rate of a kernel bound by memory, on the "
    "stream of the kernel that the collective waits for.",
    "Where the other ranks are not recorded, a collective moves bytes for as long as the shortest "
    "of the same kind, communicator and bytes; the rest waits for them and stays."};
constexpr std::array<std::string_view, 4> ignores = {
    "what the method costs in accuracy where zeros are made (top-k)",
    "networks with links of several speeds, and servers on the workers' machines",
    "loss of packets, and workers that a server waits for block by block",
    "the kernels that pick the largest numbers, where zeros are made"};
constexpr std::array params = {density_param,     overlap_param, block_param,
                               index_bytes_param, method_param,  servers_param,
                               workers_param,     latency_param, link_bandwidth_param};

constexpr std::array trends = {Trend{&density_param, Larger::is_slower}};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "sparse_aggregation",
    .summary = "All-reduces of gradients become sums of the blocks that are not all zero.",
    .paper =
        "J. Fei, C. Ho, A. Sahu, M. Canini, A. Sapio, Efficient Sparse Collective "
        "Communication and its application to Accelerate Distributed Deep Learning "
        "(OmniReduce), SIGCOMM 2021",
    .recipe =
        "The transfer of every all-reduce of gradients keeps its latency; the rest becomes the "
        "bytes of the fullest link / those of a ring's. A worker sends its own blocks and gets "
        "those of the union, servers share both; an all-gather receives those of every worker. A "
        "kernel that reads the gradients once follows the one that the collective waits for; "
        "behind an all-gather one adds up.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "density, overlap: count blocks of recorded gradients, of one worker and of all.",
    .identity =
        {.none_because =
             "another exchange takes the place of the recorded one, also where nothing is zero"},
    .params = params,
    .trends = trends,
    .apply = apply,
    .stage = ApplyStage::network};

}  // namespace foretrace::sparse_aggregation_parts
