// Finds the set of choices that takes least time and fits into memory, by trying sets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace foretrace {

/// What a set turned out to be.
struct SetTrial {
  bool is_possible = false;
  std::int64_t step_ns = 0;
  std::int64_t need_bytes = 0;
};

struct SetProblem {
  std::vector<std::size_t> group;  ///< per choice; a set holds at most one of a group
  /// True if no set may hold both.
  std::function<bool(std::size_t, std::size_t)> excludes;
  /// Tries sets; the choices of each ascend.
  std::function<std::vector<SetTrial>(std::span<const std::vector<std::size_t>>)> try_sets;
  /// Told how many sets will be tried in all, once that is known; may be empty.
  std::function<void(std::size_t)> expect{};
  SetTrial nothing;  ///< of the empty set
  std::int64_t capacity_bytes = 0;
};

struct SetLimits {
  std::size_t most_members = 3;
  std::size_t most_trials = 1000;
  /// Sets whose step is longer than the shortest one's by at most this share count as equally good:
  /// the one with fewest members is taken.
  double tolerance = 0;
};

struct TriedSet {
  std::vector<std::size_t> choices;
  SetTrial trial;
};

struct SetOutcome {
  /// Possible sets that were tried: those that fit by step, then the others by need.
  std::vector<TriedSet> tried;
  std::size_t fitting = 0;  ///< how many of them fit
  std::size_t sets = 0;     ///< of choices that are possible alone; what there was to try
  std::size_t trials = 0;   ///< tried, impossible ones and single choices included
  bool is_complete = false;
  std::optional<std::size_t> best;      ///< index of `tried`; none if nothing fits
  std::optional<std::size_t> smallest;  ///< the one with the least need
};

/// Tries every single choice. If there are at most `most_trials` sets of those that are possible,
/// all of them are tried and the answer is exact. Else the best ones first: sets that should fit by
/// step, then those nearest to fitting, where a set is expected to be what its members change alone
/// and, for three and more, what pairs of them were found to do together. Half of the trials that
/// are left go to each size, all that remain to the last.
[[nodiscard]] SetOutcome search_sets(const SetProblem& problem, const SetLimits& limits);

}  // namespace foretrace
