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
#include "models/editing/tensors/update_of_pass.h"
#include "models/whatifs/parallelism/network_calls.h"
#include "sim/graph/links.h"

namespace foretrace::editing {
namespace {

/// The first bucket is small, so that communication begins early (reducer.hpp,
/// kDefaultFirstBucketBytes).
constexpr double first_bucket_bytes = 1U << 20U;
/// Fewer are told as 0.0 M: without an update they are parameters of a layer under test.
constexpr double least_gradients = 50'000;

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
        network_(editor, cluster),
        updates_(records_update(editor)) {}

  Result<SpreadData> run() {
    const std::vector<TrainingPass> passes = find_passes(editor_);
    if (passes.empty()) {
      return Error{ErrorCode::no_match,
                   "no forward kernels with a backward pass after them, expected a training step"};
    }
    const std::vector<bool> updates = followed_by_update(editor_, passes);
    for (std::size_t i = 0; i < passes.size(); ++i) {
      if (!updates[i]) {
        ++deferred_;
        continue;
      }
      FORETRACE_TRY(reduce(passes[i]));
    }
    if (options_.sharding > 0) {
      FORETRACE_TRY(collect_parameters());
    }
    return SpreadData{notes(passes.size()), buffers()};
  }

 private:
  TaskId communicate(TaskId anchor, CollectiveKind kind, double bytes, std::string_view name) {
    return network_.communicate(
        anchor, Place::after, {kind, bytes, {options_.ranks, options_.stride}, "gradients", name});
  }

  /// A kernel that reads and writes a gradient.
  Result<TaskId> copy(TaskId after, double numbers, std::string_view name) {
    return network_.move_bytes(after, Place::after, 2 * numbers * options_.gradient_bytes, name);
  }

  Status reduce(const TrainingPass& pass) {
    const Gradients gradients = finder_.of(pass, options_.parameters);
    if (gradients.list.empty()) {
      return Error{ErrorCode::missing_cost,
                   "unknown size of gradients, expected recorded shapes or parameters=N"};
    }
    if (!updates_ && options_.parameters == 0 && gradients.numbers() < least_gradients) {
      return Error{ErrorCode::no_match,
                   fmt::format("no gradients to exchange: no update was recorded, and a backward "
                               "pass has {:.0f} gradients, expected a training step or "
                               "parameters=N",
                               gradients.numbers())};
    }
    numbers_ = gradients.numbers() * options_.shrink;
    counted_ = gradients.counted;
    places_ = gradients.places;
    std::vector<Bucket> buckets;
    Bucket open;
    double limit = std::min(first_bucket_bytes, options_.bucket_bytes);
    for (std::size_t i = 0; i < gradients.list.size(); ++i) {
      const Gradient& gradient = gradients.list[i];
      const double numbers = gradient.numbers * options_.shrink;
      TaskId filled = gradient.ready;
      if (!options_.bucket_view) {
        FORETRACE_TRY(filled, copy(gradient.ready, numbers, "scale gradient into its bucket"));
      }
      open.numbers.push_back(numbers);
      open.bytes += numbers * options_.gradient_bytes;
      if (open.bytes < limit && i + 1 < gradients.list.size()) continue;
      const bool scatter = options_.sharding > 0;
      open.transfer = communicate(
          gradient.ready, scatter ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce,
          open.bytes, scatter ? "reduce-scatter of gradients" : "all-reduce of gradients");
      network_.wait(open.transfer, filled);
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
        FORETRACE_TRY(auto back, copy(last, numbers, "copy gradient from its bucket"));
        if (!waits) network_.wait(back, bucket.transfer);
        waits = true;
      }
      if (!waits) network_.next_waits(last, bucket.transfer);
    }
    return ok_status();
  }

  /// Every rank has updated its share.
  Status collect_parameters() {
    std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>, TaskId> last;
    for (const TaskId kernel : editor_.kernels()) {
      if (graph_.phase(kernel) != Phase::update) continue;
      const Lane& lane = graph_.lane(kernel);
      last[{lane.rank, lane.device, graph_.step(kernel)}] = kernel;
    }
    for (const auto& [where, kernel] : last) {
      const TaskId gather =
          communicate(kernel, CollectiveKind::all_gather, numbers_ * options_.gradient_bytes,
                      "all-gather of parameters");
      network_.wait(gather, kernel);
      network_.next_waits(kernel, gather);
    }
    return ok_status();
  }

  /// Buckets beside the gradients: a copy of all of them, or of those that are on their way.
  [[nodiscard]] double buffers() const {
    if (options_.bucket_view) return 0;
    const double all = numbers_ * options_.gradient_bytes;
    constexpr double in_flight = 2;
    return options_.sharding > 0 ? std::min(all, in_flight * options_.bucket_bytes) : all;
  }

  [[nodiscard]] std::string notes(std::size_t passes) const {
    const std::size_t exchanged = passes - deferred_;
    const double steps = static_cast<double>(std::max<std::size_t>(exchanged, 1));
    std::string text = fmt::format(
        "{} data-parallel ranks: {:.1f} M gradients ({}, {}) in {} buckets, {:.2f} ms of "
        "transfers per pass on {}",
        options_.ranks, numbers_ * 1e-6, counted_, to_string(places_), buckets_,
        static_cast<double>(network_.transferred_ns()) * 1e-6 / steps, cluster_.machine);
    if (deferred_ > 0) {
      text += fmt::format("; {} passes leave their gradients to the exchange of a later one",
                          deferred_);
    }
    return text;
  }

  KernelEditor& editor_;
  GradientFinder finder_{editor_};
  const TaskGraph& graph_;
  const Cluster& cluster_;
  const DataParallel& options_;
  NetworkCalls network_;
  bool updates_ = false;
  double numbers_ = 0;
  std::string_view counted_;
  GradientPlaces places_ = GradientPlaces::weights;
  std::size_t buckets_ = 0;
  std::size_t deferred_ = 0;  // passes without an update of their own
};

}  // namespace

Result<SpreadData> spread_data(KernelEditor& editor, const Cluster& cluster,
                               const DataParallel& options) {
  return Spreader(editor, cluster, options).run();
}

}  // namespace foretrace::editing
