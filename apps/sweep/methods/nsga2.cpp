// NSGA-II on a grid: Deb, Pratap, Agarwal and Meyarivan (2002).
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "apps/sweep/methods/moves.h"
#include "apps/sweep/methods/search.h"

namespace foretrace::sweeping {
namespace {

constexpr double crossover_chance = 0.9;
// A child that was there before, or that nobody wants, is moved again so often.
constexpr int most_moves = 20;
// So many generations without a new point end the search.
constexpr int most_idle = 3;

struct Individual {
  SeenPoint seen;
  std::size_t front = 0;
  double room = 0;  ///< around it, within its front
};

int class_of(const SeenPoint& point) { return point.is_feasible ? 0 : point.is_computed ? 1 : 2; }

bool dominates(const SeenPoint& a, const SeenPoint& b) {
  if (class_of(a) != class_of(b)) return class_of(a) < class_of(b);
  bool is_better = false;
  for (std::size_t i = 0; i < a.costs.size(); ++i) {
    if (a.costs[i] > b.costs[i]) return false;
    is_better = is_better || a.costs[i] < b.costs[i];
  }
  return is_better;
}

/// Sets the fronts: 0 is beaten by nothing, 1 by nothing but front 0, ...
void sort_into_fronts(std::vector<Individual>& all) {
  std::vector<std::size_t> beaten_by(all.size());
  std::vector<std::vector<std::size_t>> beats(all.size());
  for (std::size_t a = 0; a < all.size(); ++a) {
    for (std::size_t b = 0; b < all.size(); ++b) {
      if (a == b || !dominates(all[a].seen, all[b].seen)) continue;
      beats[a].push_back(b);
      ++beaten_by[b];
    }
  }
  std::vector<std::size_t> front;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (beaten_by[i] == 0) front.push_back(i);
  }
  for (std::size_t number = 0; !front.empty(); ++number) {
    std::vector<std::size_t> next;
    for (const std::size_t i : front) {
      all[i].front = number;
      for (const std::size_t other : beats[i]) {
        if (--beaten_by[other] == 0) next.push_back(other);
      }
    }
    std::sort(next.begin(), next.end());
    front = std::move(next);
  }
}

/// The distance between the neighbours of each in its front, summed over objectives.
void measure_room(std::vector<Individual>& all) {
  std::size_t fronts = 0;
  for (Individual& one : all) {
    one.room = 0;
    fronts = std::max(fronts, one.front + 1);
  }
  for (std::size_t number = 0; number < fronts; ++number) {
    std::vector<Individual*> front;
    for (Individual& one : all) {
      if (one.front == number && !one.seen.costs.empty()) front.push_back(&one);
    }
    const std::size_t objectives = front.empty() ? 0 : front.front()->seen.costs.size();
    for (std::size_t k = 0; k < objectives; ++k) {
      std::sort(front.begin(), front.end(), [k](const Individual* a, const Individual* b) {
        return a->seen.costs[k] != b->seen.costs[k] ? a->seen.costs[k] < b->seen.costs[k]
                                                    : a->seen.point < b->seen.point;
      });
      const double extent = front.back()->seen.costs[k] - front.front()->seen.costs[k];
      front.front()->room = front.back()->room = std::numeric_limits<double>::infinity();
      if (!(extent > 0) || !std::isfinite(extent)) continue;
      for (std::size_t i = 1; i + 1 < front.size(); ++i) {
        front[i]->room += (front[i + 1]->seen.costs[k] - front[i - 1]->seen.costs[k]) / extent;
      }
    }
  }
}

bool is_fitter(const Individual& a, const Individual& b) {
  if (a.front != b.front) return a.front < b.front;
  if (a.room != b.room) return a.room > b.room;
  return a.seen.point < b.seen.point;
}

class Nsga2 final : public Searcher {
 public:
  Nsga2(SearchField field, const SearchSettings& settings)
      : grid_(field.space, std::move(field.is_wanted)),
        settings_(settings),
        draws_(settings.seed) {}

  std::vector<std::uint64_t> ask() override {
    std::vector<std::uint64_t> next;
    const std::uint64_t left =
        settings_.points - std::min<std::uint64_t>(settings_.points, known_.size());
    const auto wanted =
        static_cast<std::size_t>(std::min<std::uint64_t>(settings_.population, left));
    for (int idle = 0; next.size() < wanted && idle < most_idle; ++idle) {
      for (std::size_t i = next.size(); i < wanted; ++i) {
        const std::optional<Places> child = parents_.empty() ? grid_.drawn(draws_) : child_of_two();
        if (!child) continue;
        const std::uint64_t point = grid_.point_of(*child);
        if (known_.insert(point).second) next.push_back(point);
      }
    }
    return next;
  }

  void tell(std::span<const SeenPoint> seen) override {
    for (const SeenPoint& point : seen) parents_.push_back({point});
    sort_into_fronts(parents_);
    measure_room(parents_);
    std::sort(parents_.begin(), parents_.end(), is_fitter);
    if (parents_.size() > settings_.population) {
      parents_.erase(parents_.begin() + static_cast<std::ptrdiff_t>(settings_.population),
                     parents_.end());
    }
  }

 private:
  const Individual& winner() {
    const Individual& a = parents_[draws_.below(parents_.size())];
    const Individual& b = parents_[draws_.below(parents_.size())];
    return is_fitter(b, a) ? b : a;
  }

  std::optional<Places> child_of_two() {
    Places child = grid_.places_of(winner().seen.point);
    const Places other = grid_.places_of(winner().seen.point);
    if (draws_.happens(crossover_chance)) {
      for (std::size_t i = 0; i < child.size(); ++i) {
        if (draws_.happens(0.5)) child[i] = other[i];
      }
    }
    for (int i = 0; i < most_moves; ++i) {
      grid_.move_some(child, draws_);
      if (!known_.contains(grid_.point_of(child)) && grid_.is_wanted(child)) return child;
    }
    return std::nullopt;
  }

  Grid grid_;
  SearchSettings settings_;
  Draws draws_;
  std::set<std::uint64_t> known_;
  std::vector<Individual> parents_;
};

}  // namespace

std::unique_ptr<Searcher> nsga2(SearchField field, const SearchSettings& settings) {
  return std::make_unique<Nsga2>(std::move(field), settings);
}

}  // namespace foretrace::sweeping
