// Shares with which every job reaches a rate that it needs: parts of policies that bring down a
// largest time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "apps/scheduling/policies/shares.h"
#include "sim/core/result.h"

namespace foretrace::scheduling {

/// Jobs by their rates on every kind, and accelerators per kind.
struct NeedProblem {
  std::vector<std::vector<double>> rates;  ///< [job][kind]
  std::vector<std::int32_t> gpus;          ///< per job
  std::vector<double> capacity;            ///< per kind
};

/// All active jobs. Where kinds look alike (not `aware`), a job has the one rate that `alike` makes
/// of its rates, and the cluster is one kind.
[[nodiscard]] NeedProblem need_problem(const View& view, bool aware,
                                       double (*alike)(const std::vector<double>& rates));

struct NeedSolution {
  bool is_met = false;
  std::vector<std::vector<double>> shares;  ///< [job][kind]
};

/// Whether the needs can be met, and shares that do so. Prices of kinds are found by a linear
/// program over what jobs answer to earlier prices (Kelley's cutting planes), so jobs are looked at
/// one by one; it ends as soon as the answer is clear. `prices` are where it begins, and where it
/// ended; empty: equal ones.
[[nodiscard]] Result<NeedSolution> meet(const NeedProblem& problem,
                                        const std::vector<double>& needs,
                                        std::vector<double>& prices);

/// Levels down to which the needs of all jobs can be brought together.
struct LevelRange {
  double low = 0;
  double high = 0;
  /// Where needs cannot be met even there, `high` grows by this factor, up to `highest`.
  double factor = 2;
  double highest = 0;
  double width = 1e-4;  ///< of the last bracket, relative
  /// Where a job stops the others because it cannot run faster than on its best kind all the time,
  /// it does that and the others go on to lower levels, until the accelerators are used up.
  bool goes_on = false;
};
struct LevelSolution {
  double level = 0;
  std::vector<std::vector<double>> shares;  ///< [job][kind]
};
/// Brings the level of all jobs down as far as it goes, by bisection. `needs_at` must not grow with
/// the level. Errors: needs cannot be met even at the highest level.
[[nodiscard]] Result<LevelSolution> least_level(
    const NeedProblem& problem, const LevelRange& range,
    const std::function<std::vector<double>(double)>& needs_at);

/// Rows of all active jobs with these shares; where kinds look alike, spread over them. On a single
/// kind what the shares leave is divided, too.
[[nodiscard]] std::vector<ShareRow> rows_of(const View& view, const NeedProblem& problem,
                                            bool aware, std::vector<std::vector<double>> shares);

}  // namespace foretrace::scheduling
