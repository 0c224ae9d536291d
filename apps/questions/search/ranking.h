// What-ifs ranked by what they give: each alone, and two together.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/session/session.h"
#include "models/whatifs/what_if.h"
#include "sim/core/result.h"

namespace foretrace {

enum class RankBy : std::uint8_t { time, memory };

/// One row of a ranking.
struct Ranked {
  const WhatIfInfo* info = nullptr;
  std::int64_t step_ns = 0;
  std::int64_t low_ns = 0;
  std::int64_t high_ns = 0;
  double speedup = 1;                ///< of the work per time, see speedup_of
  double samples = 1;                ///< of a step / of a recorded one
  bool is_noise = false;             ///< the gain is smaller than the trace's own scatter
  std::optional<MemoryNeed> memory;  ///< where tensors are recorded
  std::string settings{};            ///< of an example, "factor=2"; empty: its defaults
  std::vector<Doubt> doubts{};       ///< of the what-if alone
  bool fits = true;                  ///< false: the run as it is does not fit either
};
/// Whether a program is worth changing for it: half a percent more work per time at least.
[[nodiscard]] inline bool is_worth_it(const Ranked& row) { return row.speedup >= 1.005; }
/// A what-if that a ranking leaves out.
struct Unranked {
  enum class Cause : std::uint8_t {
    needs_parameter,
    is_formula,
    finds_nothing,
    does_not_fit,
    error
  };
  std::string_view name;
  Cause cause = Cause::error;
  std::string reason;
};
/// "needs_parameter", "failed": for documents.
[[nodiscard]] std::string_view name_of(Unranked::Cause cause);
struct Ranking {
  RankBy by = RankBy::time;
  std::optional<MemoryNeed> memory;  ///< of the run as it was
  std::vector<Ranked> rows;          ///< largest gain first, by time per sample
  std::vector<Unranked> left_out;
};
/// How a ranking is made.
struct RankHow {
  RankBy by = RankBy::time;
  /// What-ifs of the program that need a parameter take the settings that ship with them.
  bool examples = false;
  /// Gets the answer behind every row, one at a time, in any order.
  std::function<void(const WhatIfInfo&, Answer)> keep{};
};
/// Tries every what-if that needs no parameter, on several threads. By memory: lowest peak of live
/// bytes first, equal ones by time; an error without recorded tensors.
[[nodiscard]] Result<Ranking> rank_all(const Session& session, const RankHow& how = {});

/// Two what-ifs, the second on top of the first.
struct RankedPair {
  const WhatIfInfo* first = nullptr;
  const WhatIfInfo* second = nullptr;
  std::int64_t step_ns = 0;
  std::int64_t low_ns = 0;
  std::int64_t high_ns = 0;
  double speedup = 1;         ///< of the work per time, see speedup_of
  std::int64_t added_ns = 0;  ///< the step if both gains added up
  std::optional<MemoryNeed> memory;
  std::int64_t added_live_bytes = 0;  ///< the live peak if both savings added up
};
/// Two what-ifs that cannot be together.
struct IllegalPair {
  std::string_view first;
  std::string_view second;
  std::string reason;
};
struct PairRanking {
  std::size_t most_singles = 0;           ///< at most so many of the best singles are combined
  std::vector<std::string_view> singles;  ///< those that were
  std::size_t tried = 0;                  ///< pairs
  std::vector<RankedPair> rows;           ///< largest gain first
  std::vector<IllegalPair> illegal;
  /// What is nearer to the sum of both gains counts as the same.
  std::int64_t tolerance_ns = 0;
  std::int64_t tolerance_bytes = 0;
};
/// Combines the best singles of a ranking that gain something. A pair is legal if neither declares
/// a conflict with the other and the second finds something to change in what the first left.
[[nodiscard]] Result<PairRanking> rank_pairs(const Session& session, const Ranking& ranking,
                                             std::size_t most_singles);

/// An error where tensors were recorded, but no device work that a `question` of time could change.
[[nodiscard]] Status expect_device_work(const TaskGraph& graph, std::string_view question);

/// The order of a ranking: by time per sample, or by live memory and then by time per sample.
[[nodiscard]] bool ranks_before(const Ranked& a, const Ranked& b, RankBy by);

/// The what-if with its defaults; nothing if it has a parameter that must be given.
[[nodiscard]] std::optional<WhatIf> with_defaults(const WhatIfInfo& info);

}  // namespace foretrace
