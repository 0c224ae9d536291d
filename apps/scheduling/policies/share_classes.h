// Jobs that are alike, taken together: parts of policies that compute shares.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/scheduling/policies/shares.h"
#include "apps/scheduling/policies/view.h"
#include "apps/scheduling/solver/linear_program.h"

namespace foretrace::scheduling {

/// Jobs with equal rates, numbers of accelerators and weights: they deserve equal shares.
struct JobClass {
  std::vector<JobId> jobs;
  std::vector<double> rates;  ///< per kind
  std::int32_t gpus = 1;
  double weight = 1;
};
[[nodiscard]] std::vector<JobClass> classes_of(const View& view);

/// What a job would get if every kind were divided equally among all jobs: shares per kind of a job
/// on `gpus` accelerators, at most 1 together.
[[nodiscard]] std::vector<double> equal_division(const View& view, std::int32_t gpus);

/// A total share of time spread over kinds in proportion to how many accelerators they have, for
/// policies to which all kinds look alike.
[[nodiscard]] std::vector<double> spread_over_kinds(const View& view, double share);

/// Columns for shares of every class on every kind, and the rows that keep them inside the cluster:
/// a job runs at most all the time, a kind is not used more than it is there.
struct ShareProgram {
  LinearProgram program;
  std::vector<std::vector<std::size_t>> columns;  ///< [class][kind]
};
[[nodiscard]] ShareProgram share_program(const View& view, const std::vector<JobClass>& classes);

/// A row per job of each class, with equal parts of what the class got.
[[nodiscard]] std::vector<ShareRow> divide(const ShareProgram& shares,
                                           const std::vector<JobClass>& classes,
                                           const LinearSolution& solution);

}  // namespace foretrace::scheduling
