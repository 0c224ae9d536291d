#include "models/whatifs/communication/recorded_buckets.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "models/editing/transfers/gradient_transfers.h"
#include "models/editing/transfers/transfers.h"
#include "sim/graph/links.h"

namespace foretrace::editing {
namespace {

class BucketFinder {
 public:
  explicit BucketFinder(const KernelEditor& editor) : graph_(editor.graph()) {
    for (TrainingPass& pass : find_passes(editor)) {
      const std::int32_t rank = graph_.lane(pass.backward.front()).rank;
      passes_[rank].push_back(std::move(pass));
    }
  }

  std::vector<BucketGroup> run() {
    const std::vector<Transfer> transfers = find_gradient_transfers(graph_);
    const MovingTimes moving(graph_, transfers);
    std::map<TaskId, RecordedBucket> buckets;  // by where ranks meet, or by the task itself
    for (const Transfer& transfer : transfers) {
      if (!pass_of(transfer.task)) continue;
      const TaskId join = join_of(transfer);
      if (transfer.met && join == none<TaskId>) continue;
      RecordedBucket& bucket = buckets[transfer.met ? join : transfer.task];
      bucket.join = join;
      bucket.bytes = static_cast<double>(graph_.work(transfer.task).bytes);
      bucket.members.push_back(member_of(transfer, moving));
    }
    std::vector<BucketGroup> groups;
    std::map<Key, std::size_t> at;
    for (auto& [id, bucket] : buckets) add(std::move(bucket), groups, at);
    return groups;
  }

 private:
  using Key = std::tuple<std::uint32_t, CollectiveKind, std::vector<std::int32_t>, std::size_t>;

  [[nodiscard]] TaskId join_of(const Transfer& transfer) const {
    if (!transfer.met) return none<TaskId>;
    for (const Link& link : sources(graph_, transfer.task)) {
      if (link.kind == DependencyKind::rendezvous) return task_of(link.source);
    }
    return none<TaskId>;
  }

  [[nodiscard]] BucketMember member_of(const Transfer& transfer, const MovingTimes& moving) const {
    BucketMember member;
    member.rank = graph_.lane(transfer.task).rank;
    member.begin = transfer.met ? other_half(graph_, transfer.task) : transfer.task;
    if (member.begin == none<TaskId>) member.begin = previous_on_lane(graph_, transfer.task);
    if (transfer.met) member.finish = transfer.task;
    member.call = launch_of(graph_, member.begin);
    member.moving_ns = moving.of(transfer);
    member.waiting_ns = graph_.duration_ns(transfer.task) - member.moving_ns;
    return member;
  }

  /// The pass of its rank whose forward began last before the task.
  [[nodiscard]] std::optional<std::size_t> pass_of(TaskId task) const {
    const auto found = passes_.find(graph_.lane(task).rank);
    if (found == passes_.end()) return std::nullopt;
    std::optional<std::size_t> at;
    for (std::size_t i = 0; i < found->second.size(); ++i) {
      if (found->second[i].backward.front() < task) at = i;
    }
    return at;
  }

  void add(RecordedBucket bucket, std::vector<BucketGroup>& groups,
           std::map<Key, std::size_t>& at) const {
    std::sort(bucket.members.begin(), bucket.members.end(),
              [](const BucketMember& a, const BucketMember& b) { return a.rank < b.rank; });
    std::vector<std::int32_t> ranks;
    for (const BucketMember& member : bucket.members) ranks.push_back(member.rank);
    const TaskId first = bucket.members.front().last();
    const Work& work = graph_.work(first);
    const Key key{work.communicator, work.collective, ranks, *pass_of(first)};
    const auto [known, is_new] = at.try_emplace(key, groups.size());
    if (is_new) {
      BucketGroup group;
      for (const BucketMember& member : bucket.members) {
        group.passes.push_back(passes_.at(member.rank)[*pass_of(member.last())]);
      }
      groups.push_back(std::move(group));
    }
    groups[known->second].buckets.push_back(std::move(bucket));
  }

  const TaskGraph& graph_;
  std::map<std::int32_t, std::vector<TrainingPass>> passes_;  // by rank
};

double device_ns(const KernelEditor& editor, const TrainingPass& pass) {
  double sum = 0;
  for (const TaskId kernel : pass.backward) {
    sum += static_cast<double>(editor.graph().duration_ns(kernel));
  }
  return sum;
}

}  // namespace

std::vector<BucketGroup> find_bucket_groups(const KernelEditor& editor) {
  return BucketFinder(editor).run();
}

BucketTimes times_of(const TaskGraph& graph, const BucketGroup& group, std::size_t member,
                     std::int64_t latency_ns) {
  BucketTimes usual;
  usual.latency_ns = latency_ns;
  std::vector<TaskId> begins;
  for (const RecordedBucket& bucket : group.buckets) {
    const BucketMember& of = bucket.members[member];
    const std::int64_t latency = std::min(of.moving_ns, latency_ns);
    usual.latency_ns = std::min(usual.latency_ns, latency);
    usual.following_ns += static_cast<double>(of.moving_ns - latency);
    usual.waiting_ns += of.waiting_ns;
    if (of.call != none<TaskId>) begins.push_back(of.begin);
  }
  if (begins.empty()) return usual;
  const auto host_ns = [&](TaskId begin) { return graph.segment_ns(launch_of(graph, begin)); };
  const auto middle = begins.begin() + static_cast<std::ptrdiff_t>(begins.size() / 2);
  std::nth_element(begins.begin(), middle, begins.end(),
                   [&](TaskId a, TaskId b) { return host_ns(a) < host_ns(b); });
  usual.call_ns = graph.duration_ns(launch_of(graph, *middle));
  usual.host_ns = std::max<std::int64_t>(0, host_ns(*middle));
  usual.lag_ns = launch_link(graph, *middle).lag_ns;
  return usual;
}

double backward_share(const KernelEditor& editor, const TrainingPass& pass, TaskId task) {
  double before = 0;
  for (const TaskId kernel : pass.backward) {
    if (kernel < task) before += static_cast<double>(editor.graph().duration_ns(kernel));
  }
  const double all = device_ns(editor, pass);
  return all > 0 ? before / all : 1;
}

TaskId backward_kernel_at(const KernelEditor& editor, const TrainingPass& pass, double share) {
  const double until = share * device_ns(editor, pass) * (1 - 1e-12);
  double sum = 0;
  TaskId last = none<TaskId>;
  for (const TaskId kernel : pass.backward) {
    sum += static_cast<double>(editor.graph().duration_ns(kernel));
    if (editor.own_call(kernel) == none<TaskId>) continue;
    last = kernel;
    if (sum >= until) return kernel;
  }
  return last == none<TaskId> ? pass.backward.back() : last;
}

}  // namespace foretrace::editing
