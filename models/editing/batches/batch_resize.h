// How the work of a kernel grows with the batch: which dimension of its operator is the batch.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "models/editing/kernels/kernel_editor.h"

namespace foretrace::editing {

enum class Growth : std::uint8_t {
  fixed,   ///< no input holds the batch: parameters and their gradients
  grows,   ///< known from shapes
  assumed  ///< shapes are not recorded or not understood: taken to grow in proportion
};

/// A size x a factor; 1 at least.
[[nodiscard]] std::int64_t resized_size(std::int64_t size, double factor);
/// True if a size x a factor is a whole number, and not 0.
[[nodiscard]] bool stays_whole(std::int64_t size, double factor);

class BatchResizer {
 public:
  /// `batch` is the recorded batch size; 0: what an embedding's index leads
  /// with, else the leading dimension that most forward time has.
  BatchResizer(const KernelEditor& editor, std::int64_t batch);

  /// 0 if no shape shows it.
  [[nodiscard]] std::int64_t batch() const { return tokens_ > 0 ? 0 : batch_; }
  /// Leading dimension of activations that is a flat list of tokens, of samples of any length; 0:
  /// it is none.
  [[nodiscard]] std::int64_t tokens() const { return tokens_; }

  struct Resized {
    Growth growth = Growth::assumed;
    Cost cost;
  };
  /// The time of a forward or backward kernel when the batch is `factor` times as large: measured
  /// time x model time of the new shape / model time of the recorded one.
  [[nodiscard]] Resized resized(TaskId kernel, double factor) const;
  /// Whether `factor` leaves whole samples (tokens), so that all shapes follow it exactly.
  [[nodiscard]] bool leaves_whole(double factor) const;
  /// What it then does.
  [[nodiscard]] KernelWork resized_work(TaskId kernel, double factor) const;

  /// Whether the inputs of a task's operator that have so many bytes, in numbers of any usual size,
  /// hold the batch; tensors of fewer dimensions than `least_dims` count as without it. Nothing if
  /// no input has as many, or if they disagree.
  [[nodiscard]] std::optional<bool> holds_batch(TaskId task, std::int64_t bytes,
                                                std::size_t least_dims) const;

 private:
  [[nodiscard]] Resized assumed(TaskId kernel, double factor) const;
  void find_batch();
  void find_leading_dimension();
  void learn_shapes();
  [[nodiscard]] bool holds_batch(const Dims& dims, std::size_t least_dims = 2) const;
  [[nodiscard]] GemmShape resized_gemm(const GemmShape& shape, double factor, bool& grows) const;
  [[nodiscard]] bool is_second(TaskId kernel, const Dims& dims) const;
  [[nodiscard]] double growing_share(TaskId kernel) const;

  const KernelEditor& editor_;
  std::int64_t batch_ = 0;  // what leads activations: samples, or tokens
  std::int64_t tokens_ = 0;
  std::set<double> rows_;   // batch x positions, as products have it
  std::set<Dims> weights_;  // shapes of parameters, and of their gradients
};

/// A cost whose range holds the measured time, too.
[[nodiscard]] Cost or_unchanged(Cost cost, std::int64_t measured_ns);

/// Time of the kernels and copies of a run by what is known of their growth.
class GrowthTimes {
 public:
  void add(Growth growth, std::int64_t ns) { time_[static_cast<std::size_t>(growth)] += ns; }
  [[nodiscard]] double share(Growth growth) const;
  /// A doubt where much of the time has no known shapes: such kernels may read weights and stay, or
  /// grow in full, which is their range.
  void say_unknown(Change& change) const;

 private:
  std::array<std::int64_t, 3> time_{};
};

}  // namespace foretrace::editing
