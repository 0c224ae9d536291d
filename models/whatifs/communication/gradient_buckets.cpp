// Gradient buckets: gradients travel in pieces of another size, or as soon as they are ready.
//
//   before   s: b5 --- b4 --- b3 --- b2 --- b1 ----------------------------- update
//            n:                                [reduce 1 2 3 4 5           ]
//   after    s: b5 --- b4 --- b3 --- b2 --- b1 -------------- update         bucket=25 MiB
//            n:           [reduce 5 4 ][reduce 3 2  ][reduce 1]
//   The recorded collectives of gradients go; others of the new sizes are launched behind the
//   backward kernel after which their gradients are ready. What waited for a recorded one waits for
//   the one that carries its last gradient now.
//
// memory    none: buckets hold the same gradients.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/whatifs/communication/bucket_plan.h"
#include "models/whatifs/communication/recorded_buckets.h"
#include "models/whatifs/what_if.h"
#include "sim/core/whole.h"
#include "sim/graph/links.h"

namespace foretrace::gradient_buckets_parts {
namespace {

// Smaller ones are thousands of collectives that last as long as their latencies.
constexpr double least_bucket = 100e3;

constexpr ParamInfo bucket_param = {.name = "bucket",
                                    .type = ParamType::bytes,
                                    .unit = "MiB",
                                    .default_text = "0 B",
                                    .doc = "Bytes of a bucket (bucket_cap_mb); 0: as recorded.",
                                    .minimum = 0,
                                    .maximum = 1e15};
constexpr ParamInfo first_param = {
    .name = "first",
    .type = ParamType::bytes,
    .unit = "MiB",
    .default_text = "1 MiB",
    .doc = "Bytes of the first bucket, which lets communication begin early.",
    .minimum = 1,
    .maximum = 1e15};
constexpr ParamInfo when_param = {
    .name = "when",
    .type = ParamType::text,
    .default_text = "ready",
    .doc = "ready: as soon as a bucket is full; end: after the backward pass.",
    .choices = "ready|end"};
constexpr ParamInfo latency_param = {
    .name = "latency",
    .type = ParamType::time,
    .unit = "us",
    .default_text = "20 us",
    .doc = "Latency of a collective: the part that does not depend on its bytes.",
    .minimum = 0,
    .maximum = 1e9,
    .optimistic = "10 us",
    .pessimistic = "40 us"};

using editing::BucketGroup;
using editing::NewBucket;
using editing::RecordedBucket;

// Host time before a call that is longer than this many usual ones is the program's, not its own.
constexpr std::int64_t most_usual_times = 4;

class Rebucket {
 public:
  Rebucket(const WhatIfInput& scenario, const editing::BucketRules& rules, std::int64_t latency_ns)
      : editor_(scenario),
        graph_(scenario.graph),
        planner_(editor_, rules),
        latency_ns_(latency_ns) {}

  Result<Change> run() {
    const std::vector<BucketGroup> groups = editing::find_bucket_groups(editor_);
    if (groups.empty()) {
      return Error{ErrorCode::no_match,
                   "no all-reduce or reduce-scatter of gradients after a backward kernel, expected "
                   "training on several ranks"};
    }
    for (const BucketGroup& group : groups) {
      FORETRACE_TRY(replace(group));
    }
    std::string note =
        fmt::format("{} collectives of gradients become {}, {:.2f} ms -> {:.2f} ms of transfers",
                    before_, after_, editing::to_ms(before_ns_), editing::to_ms(after_ns_));
    if (planner_.is_estimated()) {
      note +=
          "; they were launched behind the backward pass: when gradients are ready follows from "
          "their sizes";
    }
    if (planner_.unsized() > 0) {
      note += fmt::format("; {} passes have collectives of unknown size and keep their buckets",
                          planner_.unsized());
    }
    editor_.edit().note(note);
    return editor_.edit().finish();
  }

 private:
  Status replace(const BucketGroup& group) {
    const std::vector<NewBucket> buckets = planner_.plan(group);
    usual_.clear();
    last_behind_.clear();
    for (std::size_t m = 0; m < group.passes.size(); ++m) {
      usual_.push_back(editing::times_of(graph_, group, m, latency_ns_));
    }
    std::vector<std::vector<TaskId>> put;  // per new bucket and member, what carries it
    put.reserve(buckets.size());
    for (const NewBucket& bucket : buckets) put.push_back(insert(group, bucket));
    for (std::size_t i = 0; i < group.buckets.size(); ++i) {
      const std::size_t b = editing::bucket_that_ends(buckets, planner_.recorded_end(i));
      for (std::size_t m = 0; m < group.passes.size(); ++m) {
        const TaskId old = group.buckets[i].members[m].last();
        FORETRACE_TRY(hand_over(old, put[b][m], buckets[b].behind_all));
      }
      remove(group.buckets[i]);
    }
    before_ += group.buckets.size() * group.passes.size();
    after_ += buckets.size() * group.passes.size();
    return ok_status();
  }

  /// Waiting for ranks that are not recorded stays with the bucket, or with the first one.
  [[nodiscard]] std::int64_t time_of(const BucketGroup& group, const NewBucket& bucket,
                                     std::size_t member) const {
    if (bucket.recorded != NewBucket::none_recorded) {
      const editing::BucketMember& same = group.buckets[bucket.recorded].members[member];
      return same.moving_ns + same.waiting_ns;
    }
    const editing::BucketTimes& usual = usual_[member];
    const bool is_first = bucket.share >= bucket.end;
    return usual.latency_ns + to_whole(usual.following_ns * bucket.share) +
           (is_first ? usual.waiting_ns : 0);
  }

  /// Behind everything that was put in behind this task before.
  TaskId put_behind(TaskId anchor, const TaskSpec& spec) {
    const auto [last, is_new] = last_behind_.try_emplace(anchor, anchor);
    last->second = editor_.edit().insert(spec, last->second, Place::after);
    return last->second;
  }

  TaskSpec spec_of(TaskId like, double bytes) {
    TaskSpec spec = editor_.edit().like(like);
    Work work = graph_.work(like);
    if (work.bytes >= 0) work.bytes = to_whole(bytes);
    spec.work = editor_.edit().add_work(work);
    return spec;
  }

  /// Per member, the task after which its gradients are reduced.
  std::vector<TaskId> insert(const BucketGroup& group, const NewBucket& bucket) {
    const RecordedBucket& like = group.buckets.front();
    const bool met = like.join != none<TaskId>;
    const double bytes = bucket.share * planner_.bytes();
    std::vector<TaskId> begins;
    for (std::size_t m = 0; m < group.passes.size(); ++m) {
      TaskSpec begin = spec_of(like.members[m].begin, bytes);
      if (!met) begin.duration_ns = time_of(group, bucket, m);
      begin.segment_ns = 0;
      begin.provenance = Provenance::scaled;
      const TaskId call = call_behind(bucket.behind[m], like.members[m], usual_[m]);
      const TaskId put = put_behind(bucket.behind_all, begin);
      if (call != none<TaskId>) {
        editor_.edit().depend(put, call, DependencyKind::launch, usual_[m].lag_ns);
      }
      editor_.edit().depend(put, bucket.behind[m], DependencyKind::event_wait);
      begins.push_back(put);
    }
    std::vector<TaskId> ends = met ? meet(group, bucket, begins) : begins;
    for (std::size_t m = 0; m < ends.size(); ++m) {
      const std::int64_t ns = time_of(group, bucket, m);
      editor_.edit().set_duration(ends[m], ns, {Provenance::scaled, 0.85F, 1.2F});
      after_ns_ += ns;
    }
    return ends;
  }

  TaskId call_behind(TaskId kernel, const editing::BucketMember& like,
                     const editing::BucketTimes& usual) {
    const TaskId beside = editor_.own_call(kernel);
    if (like.call == none<TaskId> || beside == none<TaskId>) return none<TaskId>;
    TaskSpec call = editor_.edit().like(like.call);
    call.lane = graph_.lane_id(beside);
    call.step = graph_.step(beside);
    call.duration_ns = usual.call_ns;
    call.segment_ns = usual.host_ns;
    call.provenance = Provenance::scaled;
    return put_behind(kernel, call);
  }

  std::vector<TaskId> meet(const BucketGroup& group, const NewBucket& bucket,
                           const std::vector<TaskId>& begins) {
    const RecordedBucket& like = group.buckets.front();
    const double bytes = bucket.share * planner_.bytes();
    const TaskId join = put_behind(bucket.behind_all, spec_of(like.join, bytes));
    for (const TaskId begin : begins) {
      editor_.edit().depend(join, begin, DependencyKind::rendezvous);
    }
    std::vector<TaskId> ends;
    for (const editing::BucketMember& member : like.members) {
      ends.push_back(put_behind(bucket.behind_all, spec_of(member.finish, bytes)));
      editor_.edit().depend(ends.back(), join, DependencyKind::rendezvous);
    }
    return ends;
  }

  /// What waited for the old transfer waits for the new one.
  Status hand_over(TaskId old, TaskId now, TaskId behind) {
    for (const Link& link : dependents(graph_, old)) {
      if (link.on_lane() || link.symbolic || link.kind == DependencyKind::rendezvous) continue;
      if (link.task <= behind) {
        return Error{
            ErrorCode::no_match,
            fmt::format("'{}' uses a reduced gradient during the backward pass, before the "
                        "bucket that would carry it is full",
                        graph_.name(link.task))};
      }
      editor_.edit().depend(link.task, now, link.kind, link.lag_ns);
    }
    return ok_status();
  }

  void remove(const RecordedBucket& bucket) {
    Editor& edit = editor_.edit();
    const RemoveOptions keep{.device = SegmentOf::take};
    if (bucket.join != none<TaskId>) edit.remove(std::span(&bucket.join, 1), keep);
    for (std::size_t m = 0; m < bucket.members.size(); ++m) {
      const editing::BucketMember& member = bucket.members[m];
      before_ns_ += member.moving_ns + member.waiting_ns;
      const bool is_own = member.call != none<TaskId> &&
                          graph_.segment_ns(member.call) <= most_usual_times * usual_[m].host_ns;
      const std::array tasks = {member.begin, member.last()};
      edit.remove(tasks,
                  {.host = is_own ? SegmentOf::take : SegmentOf::keep, .device = SegmentOf::take});
    }
  }

  editing::KernelEditor editor_;
  const TaskGraph& graph_;
  editing::BucketPlanner planner_;
  std::int64_t latency_ns_ = 0;
  std::vector<editing::BucketTimes> usual_;  // per member of the group at hand
  std::map<TaskId, TaskId> last_behind_;     // what was put in behind a kernel last
  std::size_t before_ = 0;
  std::size_t after_ = 0;
  std::int64_t before_ns_ = 0;
  std::int64_t after_ns_ = 0;
};

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  if (const double bucket = params.number(bucket_param); bucket > 0 && bucket < least_bucket) {
    return Error{ErrorCode::bad_config,
                 fmt::format("gradient_buckets: bucket: got {:g} B, expected 0 (as recorded) or at "
                             "least {:g} kB",
                             bucket, least_bucket * 1e-3)};
  }
  const editing::BucketRules rules{.bucket = params.number(bucket_param),
                                   .first = params.number(first_param),
                                   .at_end = params.text(when_param) == "end"};
  return Rebucket(scenario, rules, params.integer(latency_param)).run();
}

constexpr std::array<std::string_view, 5> assumptions = {
    "Gradients leave in the order of the recorded buckets; where these were launched during the "
    "backward pass, bytes become ready as their launches show it, evenly in between.",
    "Where all were launched behind the backward pass, gradients become ready as the weights of "
    "the forward pass are undone, or evenly where no shapes tell.",
    "A collective takes a latency and a time that follows its bytes, at the mean rate of the "
    "recorded ones of the pass.",
    "Where the other ranks are not recorded, waiting for them stays with the same bucket, or with "
    "the first one if there are others.",
    "What the optimizer does with reduced gradients waits for all that it waited for."};
constexpr std::array<std::string_view, 4> ignores = {
    "kernels that get slower beside a transfer",
    "copies of gradients into buckets and back: as many as recorded",
    "protocols that change with the size of a message",
    "buckets of several types, and parameters that get no gradient"};
constexpr std::array params = {bucket_param, first_param, when_param, latency_param};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "gradient_buckets",
    .summary = "Reduce gradients in buckets of another size, or as soon as they are ready.",
    .paper =
        "S. Li et al., PyTorch Distributed: Experiences on Accelerating Data Parallel Training, "
        "VLDB 2020; A. Jayarajan et al., Priority-based Parameter Propagation for Distributed DNN "
        "Training, MLSys 2019",
    .recipe =
        "The collectives of gradients of each backward pass are removed with their calls. New ones "
        "with the same bytes in pieces of `bucket` are inserted behind the backward kernels that "
        "fill them, with calls on the thread of these, on the same streams and communicators; what "
        "waited for a recorded one waits for the one with its last byte.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "latency: a small all-reduce of the group.",
    .identity = {.none_because = "buckets are filled anew and leave as soon as they are full, "
                                 "those of the recorded sizes, too"},
    .params = params,
    .apply = apply,
    .stage = ApplyStage::network};

}  // namespace foretrace::gradient_buckets_parts
