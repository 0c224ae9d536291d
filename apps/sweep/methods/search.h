// Searches of a design space: which points to compute next, from what came of those before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "apps/sweep/space/space.h"

namespace foretrace::sweeping {

/// What a search sees of a point.
struct SeenPoint {
  std::uint64_t point = 0;
  bool is_computed = false;     ///< else it failed
  bool is_feasible = false;     ///< computed, and all constraints hold
  std::vector<double> costs{};  ///< per objective, the smaller the better
};

/// Proposes points, generation by generation. What it proposes follows from its seed and from what
/// it was told: the same search again asks for the same points, however often it is cut off.
class Searcher {
 public:
  Searcher() = default;
  Searcher(const Searcher&) = delete;
  Searcher& operator=(const Searcher&) = delete;
  virtual ~Searcher() = default;
  /// The next points, some perhaps asked for before; none: the search is over.
  [[nodiscard]] virtual std::vector<std::uint64_t> ask() = 0;
  /// Of every point that was asked for last, in that order.
  virtual void tell(std::span<const SeenPoint> seen) = 0;
};

/// What a searcher moves in. The grid that `space` walks; `is_wanted` says which points the
/// constraints over axes leave.
struct SearchField {
  const Space& space;
  std::function<bool(std::uint64_t)> is_wanted;
};

/// Deb, Pratap, Agarwal and Meyarivan, "A Fast and Elitist Multiobjective Genetic Algorithm:
/// NSGA-II" (2002): feasible points first, then fronts that nothing beats, then those with the most
/// room around them.
[[nodiscard]] std::unique_ptr<Searcher> nsga2(SearchField field, const SearchSettings& settings);

/// Kirkpatrick, Gelatt and Vecchi, "Optimization by Simulated Annealing" (1983), in several chains;
/// by the first objective.
[[nodiscard]] std::unique_ptr<Searcher> annealing(SearchField field,
                                                  const SearchSettings& settings);

}  // namespace foretrace::sweeping
