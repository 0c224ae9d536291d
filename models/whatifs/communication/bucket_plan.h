// Which gradients go together, and behind which backward kernel they can leave.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "models/editing/parameters/gradients.h"
#include "models/whatifs/communication/recorded_buckets.h"

namespace foretrace::editing {

struct BucketRules {
  double bucket = 0;    ///< bytes; 0: as recorded
  double first = 0;     ///< bytes of the first one
  bool at_end = false;  ///< behind the backward pass, not as soon as they are full
};

struct NewBucket {
  static constexpr std::size_t none_recorded = SIZE_MAX;

  double share = 0;                      ///< of all bytes of the pass
  double end = 0;                        ///< share of the bytes up to its last gradient
  std::vector<TaskId> behind;            ///< per member, the backward kernel it leaves behind
  TaskId behind_all{};                   ///< the last of these in program order
  std::size_t recorded = none_recorded;  ///< the recorded bucket that holds the same
};

class BucketPlanner {
 public:
  BucketPlanner(const KernelEditor& editor, const BucketRules& rules)
      : editor_(editor), finder_(editor), rules_(rules) {}

  /// In the order in which gradients are ready.
  [[nodiscard]] std::vector<NewBucket> plan(const BucketGroup& group);
  /// Of the group planned last: the share of the bytes at which a recorded bucket ends.
  [[nodiscard]] double recorded_end(std::size_t bucket) const { return recorded_ends_[bucket]; }

  /// All bytes of that group; 0: not recorded.
  [[nodiscard]] double bytes() const { return bytes_; }

  /// Passes that do not tell how many bytes they move: their buckets stay.
  [[nodiscard]] std::size_t unsized() const { return unsized_; }
  /// True if recorded launches did not show when gradients are ready.
  [[nodiscard]] bool is_estimated() const { return estimated_; }

 private:
  /// (share of the bytes, share of the backward pass after which they are ready), ascending.
  using Curve = std::vector<std::pair<double, double>>;
  [[nodiscard]] static double at(const Curve& curve, double share);
  [[nodiscard]] Curve ready(const BucketGroup& group, std::size_t member);
  [[nodiscard]] std::vector<double> gradient_ends(const TrainingPass& pass, double bytes) const;
  [[nodiscard]] std::vector<double> new_ends(const BucketGroup& group, double bytes) const;

  const KernelEditor& editor_;
  GradientFinder finder_;
  BucketRules rules_;
  std::vector<double> recorded_ends_;
  double bytes_ = 0;
  std::size_t unsized_ = 0;
  bool estimated_ = false;
};

/// The first of these that ends at this share of the bytes or behind it.
[[nodiscard]] std::size_t bucket_that_ends(const std::vector<NewBucket>& buckets, double share);

}  // namespace foretrace::editing
