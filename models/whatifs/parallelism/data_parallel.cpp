// The rules of PyTorch's DistributedDataParallel (torch/csrc/distributed/c10d/reducer.cpp): each
// gradient is scaled into its bucket as it is ready, a bucket goes when it is full, in order, on a
// stream of its own; after the backward pass the stream waits bucket by bucket and copies back.
//
//   before   s: b3 --- b2 --- b1 --------------------- update
//   after    s: b3 c - b2 c - b1 c ---- wait - c c c - update
//            n:         [all-reduce 1]  [all-reduce 2]
#include "models/whatifs/parallelism/data_parallel.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "models/editing/tensors/gradients.h"
#include "models/whatifs/parallelism/machine.h"
#include "sim/edit/tensors.h"

namespace foretrace::editing {
namespace {

/// The first bucket is small, so that communication begins early (reducer.hpp,
/// kDefaultFirstBucketBytes).
constexpr double first_bucket_bytes = 1U << 20U;
/// Host time of a collective's call, as a multiple of that of an elementwise operator: c10d calls
/// took 4 to 15 times as long as copies in five recordings (V100, A100, H100, MI300X), median 6.6.
constexpr double collective_calls = 6.6;

struct Bucket {
  std::vector<double> numbers;  // of its gradients
  double bytes = 0;
  TaskId transfer = none<TaskId>;
};

class Spreader {
 public:
  Spreader(KernelEditor& editor, const Cluster& cluster, const DataParallel& options)
      : editor_(editor),
        graph_(editor.graph()),
        cluster_(cluster),
        options_(options),
        usual_(usual_launch(graph_)),
        host_ns_(usual_host_time()) {}

  Result<std::string> run() {
    const std::vector<TrainingPass> passes = find_passes(editor_);
    if (passes.empty()) {
      return Error{ErrorCode::no_match,
                   "no forward kernels with a backward pass after them, expected a training step"};
    }
    for (const TrainingPass& pass : passes) {
      if (auto status = reduce(pass); !status) return std::move(status).error();
    }
    if (options_.sharding > 0) {
      if (auto status = shard_updates(passes); !status) return std::move(status).error();
    }
    return notes(passes.size());
  }

 private:
  /// Median host time of the framework before a launch: what an operator costs on this host.
  [[nodiscard]] std::int64_t usual_host_time() const {
    std::vector<std::int64_t> times;
    for (const TaskId kernel : editor_.kernels()) {
      const TaskId call = editor_.own_call(kernel);
      if (call != none<TaskId>) times.push_back(std::max<std::int64_t>(0, graph_.segment_ns(call)));
    }
    if (times.empty()) return 0;
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    return *middle;
  }

  LaneId network_lane(const Lane& compute) {
    const std::pair key{compute.rank, compute.device};
    if (const auto found = lanes_.find(key); found != lanes_.end()) return found->second;
    Lane lane = compute;
    lane.name = "gradients";
    lane.number = 0;
    for (const Lane& other : graph_.context().lanes)
      lane.number = std::max(lane.number, other.number);
    ++lane.number;
    return lanes_.emplace(key, editor_.edit().add_lane(std::move(lane))).first->second;
  }

  [[nodiscard]] CollectiveCall call_of(CollectiveKind kind, double bytes) const {
    return {kind, bytes, place(cluster_, {options_.ranks, options_.stride})};
  }

  /// A collective on the network's stream after `anchor`, called by the thread of `anchor`.
  TaskId communicate(TaskId anchor, CollectiveKind kind, double bytes, std::string_view name) {
    const TransferTime time = transfer_time(cluster_, call_of(kind, bytes));
    Editor& edit = editor_.edit();
    TaskSpec device = edit.like(anchor);
    device.lane = network_lane(graph_.lane(anchor));
    Work work;
    work.kind = TaskKind::collective;
    work.collective = kind;
    work.bytes = std::llround(bytes);
    device.work = edit.add_work(work, name);
    device.kind = TaskKind::collective;
    device.phase = Phase::communication;
    device.duration_ns = time.ns;
    device.segment_ns = 0;
    device.provenance = time.trust.provenance;
    const TaskId like_call = editor_.own_call(anchor);
    TaskId task = none<TaskId>;
    if (like_call == none<TaskId>) {
      task = edit.insert(device, anchor, Place::after);
    } else {
      TaskSpec call = device;
      call.lane = graph_.lane_id(like_call);
      call.work = edit.add_work(fmt::format("launch of {}", name), TaskKind::launch);
      call.kind = TaskKind::launch;
      call.duration_ns = usual_.call_ns;
      call.segment_ns = std::llround(static_cast<double>(host_ns_) * collective_calls);
      call.provenance = Provenance::assumed;
      task = edit.insert(Editor::NewPair{call, device, usual_.latency_ns}, anchor, Place::after)
                 .device;
    }
    edit.set_duration(task, time.ns, time.trust);
    transferred_ns_ += time.ns;
    return task;
  }

  /// A kernel that reads and writes a gradient.
  Result<TaskId> copy(TaskId after, double numbers, std::string_view name) {
    auto cost =
        editor_.moving_cost(2 * numbers * options_.gradient_bytes, KernelClass::elementwise);
    if (!cost) return std::move(cost).error();
    return editor_.add(after, Place::after, {name, *cost, host_ns_});
  }

  Status reduce(const TrainingPass& pass) {
    const Gradients gradients = finder_.of(pass, options_.parameters);
    if (gradients.list.empty()) {
      return Error{ErrorCode::missing_cost,
                   "the trace does not say how large the gradients are, expected recorded shapes "
                   "or parameters=N"};
    }
    numbers_ = gradients.numbers() * options_.shrink;
    evidence_ = gradients.evidence;
    std::vector<Bucket> buckets;
    Bucket open;
    double limit = std::min(first_bucket_bytes, options_.bucket_bytes);
    for (std::size_t i = 0; i < gradients.list.size(); ++i) {
      const Gradient& gradient = gradients.list[i];
      const double numbers = gradient.numbers * options_.shrink;
      TaskId filled = gradient.ready;
      if (!options_.bucket_view) {
        auto copied = copy(gradient.ready, numbers, "scale gradient into its bucket");
        if (!copied) return std::move(copied).error();
        filled = *copied;
      }
      open.numbers.push_back(numbers);
      open.bytes += numbers * options_.gradient_bytes;
      if (open.bytes < limit && i + 1 < gradients.list.size()) continue;
      const bool scatter = options_.sharding > 0;
      open.transfer = communicate(
          gradient.ready, scatter ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce,
          open.bytes, scatter ? "reduce-scatter of gradients" : "all-reduce of gradients");
      editor_.edit().depend(open.transfer, filled, DependencyKind::event_wait);
      buckets.push_back(std::move(open));
      open = {};
      limit = options_.bucket_bytes;
    }
    buckets_ = buckets.size();
    return wait_for(buckets, last_of(pass));
  }

  [[nodiscard]] TaskId last_of(const TrainingPass& pass) const {
    for (std::size_t i = pass.backward.size(); i-- > 0;) {
      if (editor_.own_call(pass.backward[i]) != none<TaskId>) return pass.backward[i];
    }
    return pass.backward.back();
  }

  Status wait_for(const std::vector<Bucket>& buckets, TaskId last) {
    for (const Bucket& bucket : buckets) {
      bool waits = false;
      for (const double numbers : bucket.numbers) {
        if (options_.bucket_view || options_.sharding > 0) break;
        auto back = copy(last, numbers, "copy gradient from its bucket");
        if (!back) return std::move(back).error();
        if (!waits) editor_.edit().depend(*back, bucket.transfer, DependencyKind::event_wait);
        waits = true;
      }
      if (waits) continue;
      const TaskId next = next_on_lane(graph_, last);
      if (next != none<TaskId>) {
        editor_.edit().depend(next, bucket.transfer, DependencyKind::event_wait);
      }
    }
    return ok_status();
  }

  /// Every rank updates its share; the parameters are then collected.
  Status shard_updates(const std::vector<TrainingPass>& passes) {
    std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>, TaskId> last;
    for (const TaskId kernel : editor_.kernels()) {
      if (graph_.phase(kernel) != Phase::update) continue;
      const Lane& lane = graph_.lane(kernel);
      last[{lane.rank, lane.device, graph_.step(kernel)}] = kernel;
      editor_.set(kernel, moved_share(graph_.duration_ns(kernel), editor_.class_of(kernel),
                                      1.0 / options_.ranks));
    }
    if (last.empty()) {
      return Error{ErrorCode::no_match, "no kernels of an optimizer, which sharding divides"};
    }
    for (const auto& [where, kernel] : last) {
      const TaskId next = next_on_lane(graph_, kernel);
      const TaskId gather =
          communicate(kernel, CollectiveKind::all_gather, numbers_ * options_.gradient_bytes,
                      "all-gather of parameters");
      editor_.edit().depend(gather, kernel, DependencyKind::event_wait);
      if (next != none<TaskId>) editor_.edit().depend(next, gather, DependencyKind::event_wait);
    }
    static_cast<void>(passes);
    shard_tensors();
    return ok_status();
  }

  void shard_tensors() {
    TensorEditor tensors(editor_.edit());
    const std::vector<Tensor>& all = graph_.context().tensors;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool divided = all[i].category == TensorCategory::optimizer_state ||
                           (options_.sharding > 1 && all[i].category == TensorCategory::gradient);
      if (divided && all[i].bytes > 0) {
        tensors.resize(i, static_cast<double>(all[i].bytes) / options_.ranks);
      }
    }
    tensor_note_ = tensors.note();
  }

  [[nodiscard]] std::string notes(std::size_t passes) const {
    const double steps = static_cast<double>(std::max<std::size_t>(passes, 1));
    return fmt::format(
        "{} data-parallel ranks: {:.1f} M gradients (from {}) in {} buckets, {:.2f} ms of "
        "transfers per pass on {}{}",
        options_.ranks, numbers_ * 1e-6, to_string(evidence_), buckets_,
        static_cast<double>(transferred_ns_) * 1e-6 / steps, cluster_.machine, tensor_note_);
  }

  KernelEditor& editor_;
  GradientFinder finder_{editor_};
  const TaskGraph& graph_;
  const Cluster& cluster_;
  const DataParallel& options_;
  LaunchTimes usual_;
  std::int64_t host_ns_ = 0;
  std::map<std::pair<std::int32_t, std::int32_t>, LaneId> lanes_;
  double numbers_ = 0;
  GradientEvidence evidence_ = GradientEvidence::weights;
  std::size_t buckets_ = 0;
  std::int64_t transferred_ns_ = 0;
  std::string tensor_note_;
};

}  // namespace

Result<std::string> spread_data(KernelEditor& editor, const Cluster& cluster,
                                const DataParallel& options) {
  return Spreader(editor, cluster, options).run();
}

}  // namespace foretrace::editing
