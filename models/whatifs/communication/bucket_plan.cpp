#include "models/whatifs/communication/bucket_plan.h"

#include <algorithm>
#include <cmath>

namespace foretrace::editing {
namespace {

// A launch within this share of the end of the backward pass was made after it.
constexpr double end_share = 0.98;
// Gradients that are found add up to what is reduced, in numbers of 4 or 2 bytes.
constexpr double agreement = 0.05;
// Of shares that are sums of others.
constexpr double rounding = 1e-9;

/// All bytes of a pass; 0 if a bucket does not tell.
double bytes_of(const BucketGroup& group) {
  double bytes = 0;
  for (const RecordedBucket& bucket : group.buckets) {
    if (bucket.bytes < 0) return 0;
    bytes += bucket.bytes;
  }
  return bytes;
}

/// Shares of the bytes at which the recorded buckets end; by time where bytes are not recorded.
std::vector<double> ends_of(const BucketGroup& group, double bytes) {
  std::vector<double> ends;
  double all = 0;
  for (const RecordedBucket& bucket : group.buckets) {
    all += bytes > 0 ? bucket.bytes : static_cast<double>(bucket.members.front().moving_ns);
    ends.push_back(all);
  }
  for (double& end : ends) end = all > 0 ? end / all : 1;
  return ends;
}

}  // namespace

double BucketPlanner::at(const Curve& curve, double share) {
  std::pair<double, double> before{0, 0};
  for (const auto& point : curve) {
    if (share <= point.first + rounding) {
      const double width = point.first - before.first;
      const double part = width > 0 ? std::min(1.0, (share - before.first) / width) : 1;
      return before.second + part * (point.second - before.second);
    }
    before = point;
  }
  return 1;
}

/// Where gradients end, if those that the trace tells of are what is reduced.
std::vector<double> BucketPlanner::gradient_ends(const TrainingPass& pass, double bytes) const {
  const Gradients gradients = finder_.of(pass);
  const double numbers = gradients.numbers();
  const auto agrees = [&](double size) { return std::abs(numbers * size / bytes - 1) < agreement; };
  std::vector<double> ends;
  // Where one ends and the next begins is not known of those that are spread.
  const bool known = gradients.places == GradientPlaces::accumulated ||
                     gradients.places == GradientPlaces::weights;
  if (!known || (!agrees(4) && !agrees(2))) return ends;
  double sum = 0;
  for (const Gradient& gradient : gradients.list) {
    sum += gradient.numbers;
    ends.push_back(sum / numbers);
  }
  return ends;
}

std::vector<double> BucketPlanner::new_ends(const BucketGroup& group, double bytes) const {
  if (!(rules_.bucket > 0) || !(bytes > 0)) return recorded_ends_;
  const std::vector<double> gradients = gradient_ends(group.passes.front(), bytes);
  std::vector<double> ends;
  double limit = std::min(rules_.first, rules_.bucket);
  double end = 0;
  // No more buckets than a trace could hold.
  while (end < 1 && ends.size() < 1U << 20U) {
    end += limit / bytes;
    limit = rules_.bucket;
    // A bucket is full when its last gradient is in it.
    const auto next = std::lower_bound(gradients.begin(), gradients.end(), end - rounding);
    if (next != gradients.end()) end = *next;
    if (end > 1 - rounding) end = 1;
    ends.push_back(end);
  }
  return ends;
}

/// As the recorded launches show it, or, where all were made behind the pass, by the gradients.
BucketPlanner::Curve BucketPlanner::ready(const BucketGroup& group, std::size_t member) {
  const TrainingPass& pass = group.passes[member];
  Curve curve;
  for (std::size_t i = 0; i < recorded_ends_.size(); ++i) {
    const TaskId begin = group.buckets[i].members[member].begin;
    curve.emplace_back(recorded_ends_[i], backward_share(editor_, pass, begin));
  }
  if (curve.front().second < end_share || rules_.at_end) return curve;
  estimated_ = true;
  curve.clear();
  const Gradients gradients = finder_.of(pass);
  // Nothing known: bytes are ready evenly.
  if (gradients.list.empty() || gradients.places == GradientPlaces::spread) return {{1, 1}};
  const double numbers = gradients.numbers();
  double sum = 0;
  for (const Gradient& gradient : gradients.list) {
    sum += gradient.numbers;
    const auto behind = make_id<TaskId>(index(gradient.ready) + 1);
    curve.emplace_back(sum / numbers, backward_share(editor_, pass, behind));
  }
  return curve;
}

std::vector<NewBucket> BucketPlanner::plan(const BucketGroup& group) {
  bytes_ = bytes_of(group);
  if (rules_.bucket > 0 && !(bytes_ > 0)) ++unsized_;
  recorded_ends_ = ends_of(group, bytes_);
  const std::vector<double> ends = new_ends(group, bytes_);
  const bool same = ends == recorded_ends_;
  std::vector<Curve> curves;
  for (std::size_t m = 0; m < group.passes.size(); ++m) curves.push_back(ready(group, m));
  std::vector<NewBucket> buckets;
  double from = 0;
  for (std::size_t b = 0; b < ends.size(); ++b) {
    NewBucket bucket;
    bucket.share = ends[b] - from;
    bucket.end = from = ends[b];
    if (same) bucket.recorded = b;
    for (std::size_t m = 0; m < group.passes.size(); ++m) {
      const double share = rules_.at_end ? 1 : at(curves[m], ends[b]);
      bucket.behind.push_back(backward_kernel_at(editor_, group.passes[m], share));
    }
    bucket.behind_all = *std::max_element(bucket.behind.begin(), bucket.behind.end());
    buckets.push_back(std::move(bucket));
  }
  return buckets;
}

std::size_t bucket_that_ends(const std::vector<NewBucket>& buckets, double share) {
  for (std::size_t b = 0; b < buckets.size(); ++b) {
    if (share <= buckets[b].end + rounding) return b;
  }
  return buckets.size() - 1;
}

}  // namespace foretrace::editing
