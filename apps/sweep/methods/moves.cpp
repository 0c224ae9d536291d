#include "apps/sweep/methods/moves.h"

#include <utility>

namespace foretrace::sweeping {
namespace {

// Where fewer than one point in so many is wanted, a search would mostly look for any.
constexpr int most_draws = 100'000;

}  // namespace

std::uint64_t Draws::below(std::uint64_t count) {
  return static_cast<std::uint64_t>(share() * static_cast<double>(count));
}

double Draws::share() { return even_share(seed_, drawn_++); }

Grid::Grid(const Space& space, std::function<bool(std::uint64_t)> is_wanted)
    : size_(space.group_sizes()), is_wanted_(std::move(is_wanted)) {}

Places Grid::places_of(std::uint64_t point) const {
  Places places(size_.size());
  for (std::size_t group = size_.size(); group-- > 0;) {
    places[group] = point % size_[group];
    point /= size_[group];
  }
  return places;
}

std::uint64_t Grid::point_of(const Places& places) const {
  std::uint64_t point = 0;
  for (std::size_t group = 0; group < size_.size(); ++group) {
    point = point * size_[group] + places[group];
  }
  return point;
}

std::optional<Places> Grid::drawn(Draws& draws) const {
  Places places(size_.size());
  for (int i = 0; i < most_draws; ++i) {
    for (std::size_t group = 0; group < size_.size(); ++group) {
      places[group] = draws.below(size_[group]);
    }
    if (is_wanted(places)) return places;
  }
  return std::nullopt;
}

void Grid::move_some(Places& places, Draws& draws) const {
  std::vector<std::size_t> movable;
  for (std::size_t group = 0; group < size_.size(); ++group) {
    if (size_[group] > 1) movable.push_back(group);
  }
  if (movable.empty()) return;
  const double chance = 1.0 / static_cast<double>(movable.size());
  const std::size_t surely = movable[draws.below(movable.size())];
  for (const std::size_t group : movable) {
    if (group != surely && !draws.happens(chance)) continue;
    std::uint64_t& place = places[group];
    const std::uint64_t last = size_[group] - 1;
    if (draws.happens(0.5)) {
      place = place == 0 || (place < last && draws.happens(0.5)) ? place + 1 : place - 1;
    } else {
      const std::uint64_t other = draws.below(last);  // any but the same
      place = other < place ? other : other + 1;
    }
  }
}

}  // namespace foretrace::sweeping
