// Moves in a grid of points, and the numbers that decide them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "apps/sweep/space/space.h"

namespace foretrace::sweeping {

/// Even numbers from a seed, the same on every machine.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : seed_(seed) {}
  [[nodiscard]] std::uint64_t below(std::uint64_t count);
  [[nodiscard]] double share();  ///< from 0 to below 1
  [[nodiscard]] bool happens(double chance) { return share() < chance; }

 private:
  std::uint64_t seed_;
  std::uint64_t drawn_ = 0;
};

/// A point as the places of its axes; axes that move together have one place.
using Places = std::vector<std::uint64_t>;

class Grid {
 public:
  Grid(const Space& space, std::function<bool(std::uint64_t)> is_wanted);
  [[nodiscard]] Places places_of(std::uint64_t point) const;
  [[nodiscard]] std::uint64_t point_of(const Places& places) const;
  /// Any wanted point; none if many tries in a row found none.
  [[nodiscard]] std::optional<Places> drawn(Draws& draws) const;
  /// One place or a few moved: to a neighbouring value, as values stand in order, or to any.
  void move_some(Places& places, Draws& draws) const;
  [[nodiscard]] bool is_wanted(const Places& places) const { return is_wanted_(point_of(places)); }

 private:
  std::vector<std::uint64_t> size_;  ///< per group of axes
  std::function<bool(std::uint64_t)> is_wanted_;
};

}  // namespace foretrace::sweeping
