// The largest batch that passes a test which smaller ones may fail: reserved memory goes in leaps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "sim/core/result.h"

namespace foretrace {

struct BatchTrial {
  bool fits = false;
  /// What it cannot do without has room. True for every batch up to some, false for larger ones.
  bool may_fit = false;
};

/// About as many trials as a scan takes at most.
inline constexpr std::size_t most_batch_trials = 300;

struct BatchScanProblem {
  std::int64_t least = 1;  ///< batches to look at
  std::int64_t most = 1;
  std::int64_t guess = 1;      ///< of the largest that fits
  std::int64_t may_guess = 1;  ///< of the largest that may fit
  /// One trial per batch; not the same batch twice.
  std::function<Result<std::vector<BatchTrial>>(std::span<const std::int64_t>)> try_batches;
};

/// Batches that were tried one after the other and do not fit.
struct BatchGap {
  std::int64_t from = 0;
  std::int64_t to = 0;
};

struct BatchScan {
  std::int64_t largest = 0;   ///< that fits, 0: none does
  std::int64_t possible = 0;  ///< larger ones may not fit
  /// Above the largest one up to the largest possible one, every multiple of this was tried; 1:
  /// all.
  std::int64_t granule_above = 1;
  std::int64_t granule_below = 1;  ///< and so below the largest
  std::vector<BatchGap> gaps;      ///< below the largest
  std::size_t trials = 0;
};

/// Bisects as if whatever fits made all smaller ones fit. Then tries what lies between the batch
/// found and the largest that may fit, the largest ones first, and the smaller ones: each of the
/// two at multiples of the smallest power of two that leaves at most 128 of them. What was found
/// between multiples is bisected again. The outcome does not depend on the number of threads.
[[nodiscard]] Result<BatchScan> scan_batches(const BatchScanProblem& problem);

}  // namespace foretrace
