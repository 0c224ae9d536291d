// The largest batch that fits into memory, and what it takes per step.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/questions/memory/batch_scan.h"
#include "apps/questions/search/progress.h"
#include "apps/session/session.h"
#include "models/whatifs/what_if_spec.h"
#include "sim/core/result.h"
#include "sim/graph/task.h"

namespace foretrace {

/// A run at another batch size, simulated.
struct BatchPoint {
  std::int64_t batch = 0;  ///< samples per pass and device
  std::int64_t step_ns = 0;
  std::int64_t low_ns = 0;
  std::int64_t high_ns = 0;
  double samples_per_second = 0;  ///< passes per step x batch / step
  MemoryNeed need;
  bool fits = false;
  std::array<double, provenance_count> provenance{};  ///< shares of the critical path
};

/// y = slope x batch + offset through sampled batches.
struct BatchLine {
  double slope = 0;
  double offset = 0;
  /// Farthest that the line lies from a simulated batch of the answer, as a share of it.
  double worst_error = 0;

  /// It grows with the batch, starts at 0 or above, and every batch of the answer is near it.
  [[nodiscard]] bool is_straight() const;
};

struct BatchAnswer {
  MemoryTarget target;
  std::int64_t recorded_batch = 0;
  std::int64_t passes = 1;         ///< per step: gradient accumulation
  std::int64_t max_batch = 0;      ///< 0: no batch asked for fits
  bool is_limit_of_model = false;  ///< larger ones may fit, but are not asked for
  std::array<std::int64_t, 3> sampled{};
  BatchLine step_line;  ///< ns
  BatchLine live_line;  ///< peak of live bytes; what is reserved for them goes in leaps
  BatchScan scan;       ///< how it was found, and smaller ones that do not fit
  /// Where live blocks alone reach the size, by their line; none without a line.
  std::optional<std::int64_t> at_most_batch;
  std::vector<BatchPoint> points;  ///< by batch
};

/// Lines through three batches lead to the border, which is then found by simulation: see
/// scan_batches(). `stack` is applied at every batch. `progress` is told how many were simulated.
[[nodiscard]] Result<BatchAnswer> find_max_batch(const Session& session,
                                                 std::span<const WhatIf> stack,
                                                 const MemoryTarget& target,
                                                 const Progress& progress = {});

/// The accelerator that the run is on when `stack` is applied.
[[nodiscard]] Result<std::optional<Accelerator>> accelerator_after(const Session& session,
                                                                   std::span<const WhatIf> stack);

/// Least squares; no slope with fewer than two different batches.
[[nodiscard]] BatchLine line_through(std::span<const std::pair<double, double>> points);
/// Who asks what fits an accelerator means the run there: the move to it, on top of `stack`. Nothing
/// for a size, for the accelerator that the stack leads to, or where that is not known. An error if
/// the run cannot be moved.
[[nodiscard]] Result<std::optional<WhatIf>> move_to_fit(const Session& session,
                                                        std::span<const WhatIf> stack,
                                                        std::string_view target);

}  // namespace foretrace
