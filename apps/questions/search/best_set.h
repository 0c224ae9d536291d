// Which what-ifs together give most: small sets are all tried, larger ones grow from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/questions/search/choices.h"
#include "apps/questions/search/progress.h"
#include "apps/questions/search/ranking.h"
#include "apps/session/session.h"
#include "sim/core/result.h"

namespace foretrace {

struct BestSetQuestion {
  RankBy by = RankBy::time;              ///< memory: the peak of live bytes
  std::size_t most_members = 6;          ///< of a set
  std::size_t most_trials = 1000;        ///< sets that are simulated; a growing set is finished
  std::vector<std::string> without{};    ///< names that are no choice
  std::optional<MemoryTarget> target{};  ///< what a set has to fit into; none: the run's own device
};

/// A set, as simulated.
struct ChosenSet {
  std::vector<std::size_t> choices;  ///< of BestSetAnswer::choices, ascending
  std::int64_t step_ns = 0;
  double samples = 1;                      ///< of a step / of a recorded one
  double speedup = 1;                      ///< of the work per time, over that without a choice
  std::optional<std::int64_t> live_bytes;  ///< where tensors are recorded
  std::optional<std::int64_t> needed_bytes;
  bool fits = true;

  [[nodiscard]] double time_per_sample() const { return static_cast<double>(step_ns) / samples; }
};

/// A member of the best set, in the order in which they give most.
struct SetMember {
  std::size_t choice = 0;
  std::optional<ChosenSet> so_far;   ///< with those before it; none: not possible without the rest
  std::optional<ChosenSet> alone;    ///< none: not possible without others
  std::optional<ChosenSet> without;  ///< all others; none: they are not possible without it
};

struct BestSetAnswer {
  RankBy by = RankBy::time;
  std::optional<MemoryTarget> target;  ///< none: memory or device are not known
  ChosenSet now;
  std::vector<WhatIfChoice> choices;  ///< those that are possible alone
  std::optional<ChosenSet> best;      ///< none: nothing helps, or nothing fits
  std::int64_t low_ns = 0;            ///< the range of its step
  std::int64_t high_ns = 0;
  std::vector<SetMember> members;  ///< of the best set
  std::vector<ChosenSet> by_size;  ///< the best one of each size, as far as a larger one is better
  std::vector<ChosenSet> front;    ///< by time and live bytes; empty: memory is not known
  std::optional<ChosenSet> nearest;  ///< if nothing fits: the least need
  std::size_t most_members = 0;
  std::size_t complete_size = 0;  ///< all sets of at most so many were tried
  std::size_t trials = 0;
  double tolerance = 0;  ///< a member that gives less than this share is left out
};

/// Sets of what-ifs with their defaults (and, where memory decides, their settings for memory) on
/// top of `stack`. All sets of up to three are tried if the trials allow it, the most promising
/// ones else; then the best ones grow by what gives most, drop what gives nothing and exchange
/// single members, as long as that is better. Every figure is simulated; the answer does not depend
/// on the number of threads. Errors: a name that is not known, `stack` finds nothing to change,
/// tensors are asked for and not recorded.
[[nodiscard]] Result<BestSetAnswer> find_best_set(const Session& session,
                                                  std::span<const WhatIf> stack,
                                                  const BestSetQuestion& question,
                                                  const Progress& progress = {});

/// What --apply takes: `stack` as it was written, and the set.
[[nodiscard]] std::vector<std::string> texts_of_set(std::span<const std::string> stack,
                                                    const BestSetAnswer& answer,
                                                    const ChosenSet& set);
/// The same to predict with.
[[nodiscard]] std::vector<WhatIf> what_ifs_of_set(std::span<const WhatIf> stack,
                                                  const BestSetAnswer& answer,
                                                  const ChosenSet& set);

}  // namespace foretrace
