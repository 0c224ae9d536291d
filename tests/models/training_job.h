// A toy job of data-parallel ranks for tests of what-ifs: each computes forward and backward, meets
// the others in all-reduces on a stream of its own, waits for them and updates. Times in ns.
#pragma once

#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "tests/models/toy_run.h"

namespace foretrace::test {

struct TrainingJob {
  std::int32_t ranks = 2;
  int steps = 1;
  std::vector<std::int64_t> forward = {4'000'000};  ///< of each rank; the last holds for the rest
  std::int64_t backward = 6'000'000;                ///< of all backward kernels together
  std::size_t backward_kernels = 6;
  std::int64_t update = 1'000'000;
  enum class Among : std::uint8_t { all, shards, copies };
  /// Bytes and duration of the all-reduces of a step, and after how many backward kernels each is
  /// launched.
  struct Reduce {
    std::int64_t bytes = 0;
    std::int64_t ns = 0;
    std::size_t after = 0;
    CollectiveKind kind = CollectiveKind::all_reduce;
    Precision precision = Precision::unknown;
    Among among = Among::all;
  };
  std::vector<Reduce> reduces = {};
  /// Above 0: ranks in a row that make a shard group; ranks at one place of these are copies.
  std::int32_t shard_ranks = 0;
  bool met = true;  ///< false: each rank is recorded as if the others were not there
  int passes = 1;   ///< of each step; the last one reduces gradients
  std::string_view update_name = "adam";
  /// After how many backward kernels of the last pass an update runs on a stream of its own.
  std::vector<std::size_t> updates_within = {};
  bool nodes_of_one = false;  ///< the device of every rank is number 0
  /// Of a weight that each rank allocates at first; the last holds for the rest.
  std::vector<std::int64_t> weight_bytes = {};
  /// Numbers in the tables that a rank's forward kernel looks up, with Adagrad's states (FBGEMM).
  std::vector<std::int64_t> table_numbers = {};
};

class TrainingJobBuilder {
 public:
  explicit TrainingJobBuilder(const TrainingJob& job) : job_(job) {
    std::vector<std::int32_t> members(static_cast<std::size_t>(job.ranks));
    std::iota(members.begin(), members.end(), 0);
    builder_.add_communicator({"world", static_cast<std::uint32_t>(job.ranks), members});
    channels_.push_back(
        builder_.add_lane({.kind = LaneKind::channel, .rank = -1, .number = 0, .name = "world"}));
    if (job.shard_ranks > 0) add_shard_groups();
    for (std::int32_t r = 0; r < job.ranks; ++r) add_rank(r);
  }

  TaskGraph build() {
    if (!job_.weight_bytes.empty()) allocate_weights();
    for (int s = 0; s < job_.steps; ++s) step();
    auto graph = std::move(builder_).build();
    REQUIRE_MESSAGE(graph.ok(), graph.error().message);
    return *std::move(graph);
  }

 private:
  struct Rank {
    LaneId host{};
    LaneId compute{};
    LaneId network{};
    LaneId updates{};
    TaskId last = none<TaskId>;  // kernel
  };

  /// Communicators of the shard groups, then those of the copies.
  void add_shard_groups() {
    const auto in_shard = static_cast<std::size_t>(job_.shard_ranks);
    const std::size_t shard_groups = static_cast<std::size_t>(job_.ranks) / in_shard;
    std::vector<std::vector<std::int32_t>> groups(shard_groups + in_shard);
    for (std::size_t r = 0; r < shard_groups * in_shard; ++r) {
      groups[r / in_shard].push_back(static_cast<std::int32_t>(r));
      groups[shard_groups + r % in_shard].push_back(static_cast<std::int32_t>(r));
    }
    for (const std::vector<std::int32_t>& group : groups) {
      const std::string name = "group " + std::to_string(channels_.size());
      builder_.add_communicator({name, static_cast<std::uint32_t>(group.size()), group});
      channels_.push_back(builder_.add_lane({.kind = LaneKind::channel,
                                             .rank = -1,
                                             .number = static_cast<int>(channels_.size()),
                                             .name = name}));
    }
  }
  [[nodiscard]] std::uint32_t communicator(TrainingJob::Among among, std::size_t rank) const {
    if (among == TrainingJob::Among::all) return 0;
    const auto ranks = static_cast<std::size_t>(job_.shard_ranks);
    const std::size_t shard_groups = ranks_.size() / ranks;
    const bool shards = among == TrainingJob::Among::shards;
    return static_cast<std::uint32_t>(1 + (shards ? rank / ranks : shard_groups + rank % ranks));
  }

  void add_rank(std::int32_t r) {
    builder_.add_rank_class({.first_rank = r, .multiplicity = 1});
    Rank rank;
    const std::int32_t device = job_.nodes_of_one ? 0 : r;
    rank.host =
        builder_.add_lane({.kind = LaneKind::host_thread, .rank = r, .number = 1, .name = {}});
    rank.compute = builder_.add_lane(
        {.kind = LaneKind::stream, .rank = r, .device = device, .number = 7, .name = {}});
    rank.network = builder_.add_lane(
        {.kind = LaneKind::stream, .rank = r, .device = device, .number = 20, .name = {}});
    if (!job_.updates_within.empty()) {
      rank.updates = builder_.add_lane(
          {.kind = LaneKind::stream, .rank = r, .device = device, .number = 21, .name = {}});
    }
    ranks_.push_back(rank);
  }

  WorkId work(std::string_view name, TaskKind kind) {
    Work row;
    row.name = builder_.add_name(name);
    row.kind = kind;
    return builder_.add_work(row);
  }
  WorkId lookup(std::int64_t numbers) {
    Work row;
    row.name = builder_.add_name("split_embedding_codegen_forward_unweighted_kernel");
    row.operator_name =
        builder_.add_name("fbgemm::split_embedding_codegen_lookup_adagrad_function");
    row.shapes = builder_.add_name("[[" + std::to_string(numbers) + "], [0]]");
    row.kind = TaskKind::kernel;
    return builder_.add_work(row);
  }
  WorkId work(const TrainingJob::Reduce& what, TaskPart part, std::uint32_t communicator) {
    const bool scatters = what.kind == CollectiveKind::reduce_scatter;
    Work row;
    row.name =
        builder_.add_name(scatters ? "ncclDevKernel_ReduceScatter" : "ncclDevKernel_AllReduce");
    row.kind = TaskKind::collective;
    row.part = part;
    row.collective = what.kind;
    row.communicator = communicator;
    row.bytes = what.bytes;
    row.precision = what.precision;
    return builder_.add_work(row);
  }
  WorkId join(const TrainingJob::Reduce& what, std::uint32_t communicator) {
    Work row;
    row.name = builder_.add_name("all_reduce");
    row.kind = TaskKind::transfer;
    row.collective = what.kind;
    row.communicator = communicator;
    row.bytes = what.bytes;
    return builder_.add_work(row);
  }

  TaskId call(const Rank& rank, Phase phase) {
    return builder_.add_task({.lane = rank.host,
                              .work = work("cudaLaunchKernel", TaskKind::launch),
                              .kind = TaskKind::launch,
                              .phase = phase});
  }

  TaskId device(LaneId lane, WorkId row, const TaskSpec& like, TaskId launch) {
    TaskSpec spec = like;
    spec.lane = lane;
    spec.work = row;
    const TaskId task = builder_.add_task(spec);
    builder_.add_dependency(
        {.source = end_of(launch), .task = task, .kind = DependencyKind::launch});
    return task;
  }

  TaskId kernel(Rank& rank, std::string_view name, std::int64_t ns, Phase phase) {
    return kernel(rank, work(name, TaskKind::kernel), ns, phase);
  }
  TaskId kernel(Rank& rank, WorkId row, std::int64_t ns, Phase phase) {
    const TaskId launch = call(rank, phase);
    rank.last = device(rank.compute, row,
                       {.kind = TaskKind::kernel, .duration_ns = ns, .phase = phase}, launch);
    return rank.last;
  }

  void depend(TaskId task, TaskId source, DependencyKind kind) {
    builder_.add_dependency({.source = end_of(source), .task = task, .kind = kind});
  }

  std::vector<TaskId> reduce(const TrainingJob::Reduce& what) {
    std::vector<TaskId> ends;
    std::map<std::uint32_t, std::vector<std::size_t>> members;  // by communicator
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      const Rank& rank = ranks_[r];
      const std::uint32_t group = communicator(what.among, r);
      const TaskId launch = call(rank, Phase::backward);
      ends.push_back(device(rank.network,
                            work(what, job_.met ? TaskPart::begin : TaskPart::whole, group),
                            {.kind = TaskKind::collective,
                             .duration_ns = job_.met ? 0 : what.ns,
                             .phase = Phase::communication},
                            launch));
      depend(ends.back(), rank.last, DependencyKind::event_wait);
      members[group].push_back(r);
    }
    if (!job_.met) return ends;
    for (const auto& [group, ranks] : members) {
      const TaskId meeting = builder_.add_task(
          {.lane = channels_[group], .work = join(what, group), .kind = TaskKind::transfer});
      for (const std::size_t r : ranks) depend(meeting, ends[r], DependencyKind::rendezvous);
      for (const std::size_t r : ranks) {
        ends[r] = builder_.add_task({.lane = ranks_[r].network,
                                     .work = work(what, TaskPart::finish, group),
                                     .kind = TaskKind::collective,
                                     .duration_ns = what.ns,
                                     .phase = Phase::communication});
        depend(ends[r], meeting, DependencyKind::rendezvous);
      }
    }
    return ends;
  }

  /// Behind the newest gradient, while the backward pass goes on.
  void update_within(Rank& rank) {
    const TaskId launch = call(rank, Phase::update);
    const TaskId update = device(
        rank.updates, work(job_.update_name, TaskKind::kernel),
        {.kind = TaskKind::kernel, .duration_ns = job_.update, .phase = Phase::update}, launch);
    depend(update, rank.last, DependencyKind::event_wait);
  }

  void allocate_weights() {
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      const TaskId first = call(ranks_[r], Phase::unknown);
      builder_.add_tensor({.bytes = job_.weight_bytes[std::min(r, job_.weight_bytes.size() - 1)],
                           .device = job_.nodes_of_one ? 0 : static_cast<std::int32_t>(r),
                           .category = TensorCategory::weight,
                           .allocated_in = first});
    }
  }

  /// Returns where each of its reductions ends, by rank.
  std::vector<std::vector<TaskId>> pass(bool reduces) {
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      if (r < job_.table_numbers.size()) {
        kernel(ranks_[r], lookup(job_.table_numbers[r]), 1000, Phase::forward);
      }
      kernel(ranks_[r], "fwd", job_.forward[std::min(r, job_.forward.size() - 1)], Phase::forward);
    }
    std::vector<std::vector<TaskId>> done;
    for (std::size_t b = 0; b <= job_.backward_kernels; ++b) {
      for (const TrainingJob::Reduce& what : job_.reduces) {
        if (reduces && what.after == b) done.push_back(reduce(what));
      }
      for (const std::size_t at : job_.updates_within) {
        for (Rank& rank : ranks_) {
          if (reduces && at == b) update_within(rank);
        }
      }
      if (b == job_.backward_kernels) break;
      for (Rank& rank : ranks_) {
        kernel(rank, "bwd" + std::to_string(b),
               job_.backward / static_cast<std::int64_t>(job_.backward_kernels), Phase::backward);
      }
    }
    return done;
  }

  void step() {
    for (int p = 1; p < job_.passes; ++p) pass(false);
    const auto done = pass(true);
    if (!job_.updates_within.empty()) return;
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      const TaskId update = kernel(ranks_[r], job_.update_name, job_.update, Phase::update);
      for (const auto& ends : done) depend(update, ends[r], DependencyKind::event_wait);
    }
  }

  TrainingJob job_;
  GraphBuilder builder_;
  std::vector<LaneId> channels_;  // by communicator
  std::vector<Rank> ranks_;
};

inline TaskGraph training_job(const TrainingJob& job) { return TrainingJobBuilder(job).build(); }

}  // namespace foretrace::test
