// Which what-ifs bring a run under the size of a memory, at least time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/questions/memory/memory_budget.h"
#include "apps/questions/search/choices.h"
#include "apps/questions/search/progress.h"
#include "apps/questions/search/set_search.h"
#include "apps/session/session.h"
#include "models/whatifs/what_if_spec.h"
#include "sim/core/result.h"

namespace foretrace {

/// A set of choices as simulated.
struct FitSet {
  std::vector<std::size_t> choices;  ///< of FitAnswer::choices
  std::int64_t step_ns = 0;
  std::int64_t low_ns = 0;
  std::int64_t high_ns = 0;
  MemoryNeed need;
  bool fits = false;
};

struct FitAnswer {
  MemoryTarget target;
  FitSet now;                         ///< without any choice
  std::vector<WhatIfChoice> choices;  ///< those that edit tensors
  std::vector<FitSet> singles;        ///< smallest need first
  std::optional<FitSet> best;         ///< nothing if no set fits, or if it fits now
  std::vector<FitSet> next;           ///< further ones that fit, shortest step first
  std::optional<FitSet> smallest;     ///< the least need of all
  /// If it does not fit now: what happens without a what-if where tensors wait or leave instead, as
  /// --memory-budget has it with the same size.
  std::vector<BudgetTry> policies;
  std::size_t most_members = 0;
  std::size_t sets = 0;
  std::size_t trials = 0;
  std::size_t fitting = 0;
  bool is_complete = false;  ///< every set was tried
  double tolerance = 0;      ///< share of a step within which fewer what-ifs win

  [[nodiscard]] bool fits_now() const { return now.fits; }
};

/// Searches sets of what-ifs that edit tensors, with their defaults and the settings that they
/// declare for memory, on top of `stack`. Every figure of the answer is simulated. The answer does
/// not depend on the number of threads. An error without recorded tensors, or if `stack` finds
/// nothing to change.
[[nodiscard]] Result<FitAnswer> fit_memory(const Session& session, std::span<const WhatIf> stack,
                                           const MemoryTarget& target, SetLimits limits = {},
                                           const Progress& progress = {});

/// `stack` and a set in the order in which they are applied: what changes the workload, then
/// `stack`, then the others by stage.
[[nodiscard]] std::vector<WhatIf> with_set(std::span<const WhatIf> stack, const FitAnswer& answer,
                                           const FitSet& set);
/// The same as --apply takes it; `stack` is as the user wrote it.
[[nodiscard]] std::vector<std::string> with_set(std::span<const std::string> stack,
                                                const FitAnswer& answer, const FitSet& set);

}  // namespace foretrace
