// Which points of a store are asked for, in which order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "apps/sweep/points/evaluate.h"
#include "apps/sweep/space/sweep.h"
#include "apps/sweep/store/store.h"
#include "sim/core/result.h"

namespace foretrace::sweeping {

struct PointQuestion {
  std::size_t top = 0;  ///< the best of the first objective; 0: all
  bool pareto = false;  ///< those that no other is better than in all objectives
  std::optional<Expression> where{};
};

/// A point that was selected.
struct SelectedPoint {
  PointResult result;
  bool is_feasible = false;
  std::vector<double> objectives;  ///< as they are asked for
};

/// What there is in all.
struct SweepCounts {
  std::uint64_t points = 0;    ///< of the space
  std::uint64_t rows = 0;      ///< in the store
  std::uint64_t failed = 0;    ///< with a reason
  std::uint64_t feasible = 0;  ///< evaluated, and all constraints hold
  std::uint64_t selected = 0;
  std::uint64_t undefined = 0;  ///< evaluated, but an expression divides by zero there
};

/// A store with its sweep.
struct StoredSweep {
  Sweep sweep;
  Store store;
};
/// Errors: no sweep is there, or it cannot be understood.
[[nodiscard]] Result<StoredSweep> open_stored(const std::string& folder);

/// Points that hold in `where` and are asked for. Best first if `top` or `pareto` are asked for
/// (those are feasible ones); else every row in the order of its number.
[[nodiscard]] Result<SweepCounts> select_points(
    const StoredSweep& stored, const PointQuestion& question,
    const std::function<Status(const SelectedPoint&)>& visit);

}  // namespace foretrace::sweeping
