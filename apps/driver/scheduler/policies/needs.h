// Shares with which every job reaches a rate that it needs: parts of policies that bring down a
// largest time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "sim/core/result.h"

namespace foretrace::scheduling {

/// Jobs by their rates on every kind, and accelerators per kind.
struct NeedProblem {
  std::vector<std::vector<double>> rates;  ///< [job][kind]
  std::vector<std::int32_t> gpus;          ///< per job
  std::vector<double> capacity;            ///< per kind
};

struct NeedSolution {
  /// Largest part of a kind that is used; above 1 the needs cannot be met. Huge if a job cannot
  /// reach its need even alone.
  double use = 0;
  std::vector<std::vector<double>> shares;  ///< [job][kind]
};

/// Shares that meet the needs with the least use. Prices of kinds are found by a linear program
/// over what jobs answer to earlier prices (Kelley's cutting planes), so jobs are looked at one by
/// one.
[[nodiscard]] Result<NeedSolution> meet(const NeedProblem& problem,
                                        const std::vector<double>& needs);

/// The least level at which the needs can be met, found by bisection between `low` and `high` to a
/// relative width, and the shares at its upper end. `needs_at` must not grow with the level.
/// Errors: they cannot be met even at `high`.
struct LeastLevel {
  double low = 0;
  double high = 0;
  double width = 1e-4;
};
struct LevelSolution {
  double level = 0;
  NeedSolution solution;
};
[[nodiscard]] Result<LevelSolution> least_level(
    const NeedProblem& problem, const LeastLevel& range,
    const std::function<std::vector<double>(double)>& needs_at);

}  // namespace foretrace::scheduling
