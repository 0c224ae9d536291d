#include "apps/sweep/methods/search.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sim/core/config_text.h"

namespace foretrace::sweeping {
namespace {

/// So many values on each axis.
Space grid_of(const std::vector<int>& sizes) {
  std::vector<Axis> axes;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    Axis axis{.name = "x" + std::to_string(i), .pointer = "/x" + std::to_string(i)};
    for (int k = 0; k < sizes[i]; ++k) axis.values.push_back(text_value(std::to_string(k)));
    axis.group = i;
    axes.push_back(std::move(axis));
  }
  auto space = Space::make(std::move(axes), Method::nsga2, 1, 0);
  REQUIRE(space.ok());
  return std::move(*space);
}

using Costs = std::function<std::vector<double>(const std::vector<double>&)>;
using Wanted = std::function<bool(const std::vector<double>&)>;

struct Found {
  std::vector<std::uint64_t> asked;  ///< in order, repetitions included
  std::set<std::uint64_t> different;
  double best = 1e300;  ///< of the first cost
};

Found searched(Searcher& searcher, const Space& space, const Costs& costs) {
  Found found;
  std::vector<double> where(space.axes().size());
  for (auto asked = searcher.ask(); !asked.empty(); asked = searcher.ask()) {
    std::vector<SeenPoint> seen;
    for (const std::uint64_t point : asked) {
      REQUIRE(point < space.size());
      space.at(point, where);
      const std::vector<double> cost = costs(where);
      // Negative: no result; above 1e6: not feasible.
      const bool failed = cost[0] < 0;
      seen.push_back(
          {point, !failed, !failed && cost[0] < 1e6, failed ? std::vector<double>{} : cost});
      found.asked.push_back(point);
      found.different.insert(point);
      if (!failed) found.best = std::min(found.best, cost[0]);
    }
    searcher.tell(seen);
    REQUIRE(found.asked.size() < 100'000);
  }
  return found;
}

SearchField field_of(
    const Space& space, Wanted wanted = [](const auto&) { return true; }) {
  return {space, [&space, wanted = std::move(wanted)](std::uint64_t point) {
            std::vector<double> where(space.axes().size());
            space.at(point, where);
            return wanted(where);
          }};
}

/// A bowl with its lowest point at 3, 14, 7, 20.
std::vector<double> bowl(const std::vector<double>& x) {
  const double lowest[] = {3, 14, 7, 20};
  double sum = 1;
  for (std::size_t i = 0; i < 4; ++i) sum += (x[i] - lowest[i]) * (x[i] - lowest[i]);
  return {sum};
}

}  // namespace

TEST_CASE("sweep search: annealing and NSGA-II find the lowest of 390,625 points in 2,000") {
  const Space space = grid_of({25, 25, 25, 25});
  const auto a = annealing(field_of(space), {.points = 2000, .population = 8, .seed = 3});
  const auto b = nsga2(field_of(space), {.points = 2000, .population = 50, .seed = 3});
  const Found by_annealing = searched(*a, space, bowl);
  const Found by_nsga2 = searched(*b, space, bowl);
  // 2,000 of 390,625 drawn at random find it with a chance of 0.5 %.
  CHECK(by_annealing.best == 1);
  CHECK(by_nsga2.best == 1);
  CHECK(by_annealing.different.size() <= 2000);
  CHECK(by_nsga2.different.size() <= 2000);
  CHECK(by_nsga2.asked.size() == by_nsga2.different.size());
}

TEST_CASE("sweep search: the same seed asks for the same points, another one for others") {
  const Space space = grid_of({25, 25, 25, 25});
  for (const bool anneals : {false, true}) {
    const auto run = [&](std::uint64_t seed) {
      const SearchSettings settings{.points = 300, .population = 10, .seed = seed};
      const auto searcher =
          anneals ? annealing(field_of(space), settings) : nsga2(field_of(space), settings);
      return searched(*searcher, space, bowl).asked;
    };
    CHECK(run(1) == run(1));
    CHECK(run(1) != run(2));
  }
}

TEST_CASE("sweep search: NSGA-II finds the whole front of two objectives") {
  // x and y from 0 to 31, z beside the point: (x, 31 - x + z + |y - 16|) is least for z = 0, y
  // = 16.
  const Space space = grid_of({32, 32, 32});
  const auto searcher = nsga2(field_of(space), {.points = 3000, .population = 64, .seed = 1});
  const Costs costs = [](const std::vector<double>& x) -> std::vector<double> {
    return {x[0], 31 - x[0] + x[2] + std::abs(x[1] - 16)};
  };
  const Found found = searched(*searcher, space, costs);
  std::size_t on_front = 0;
  std::vector<double> where(3);
  for (const std::uint64_t point : found.different) {
    space.at(point, where);
    on_front += where[1] == 16 && where[2] == 0 ? 1 : 0;
  }
  CHECK(on_front >= 30);  // of 32; 3,000 of 32,768 points at random hit 3
}

TEST_CASE("sweep search: what constraints exclude is never asked for") {
  const Space space = grid_of({20, 20, 20, 21});
  const Wanted wanted = [](const std::vector<double>& x) { return x[0] + x[1] > 30 && x[2] != 7; };
  for (const bool anneals : {false, true}) {
    const SearchSettings settings{.points = 200, .population = 10, .seed = 5};
    const auto searcher = anneals ? annealing(field_of(space, wanted), settings)
                                  : nsga2(field_of(space, wanted), settings);
    const Found found = searched(*searcher, space, bowl);
    CHECK(found.different.size() > 100);
    std::vector<double> where(4);
    for (const std::uint64_t point : found.different) {
      space.at(point, where);
      CHECK(wanted(where));
    }
    // Not a point is left where all are excluded.
    const auto none = anneals
                          ? annealing(field_of(space, [](const auto&) { return false; }), settings)
                          : nsga2(field_of(space, [](const auto&) { return false; }), settings);
    CHECK(none->ask().empty());
  }
}

TEST_CASE("sweep search: points that fail or are not feasible lose against all others") {
  const Space space = grid_of({25, 25, 25, 25});
  // The bowl is a desert but for a tenth of it.
  const Costs costs = [](const std::vector<double>& x) -> std::vector<double> {
    if (x[0] > 12) return {-1};
    if (x[1] < 10) return {1e7 + x[0]};
    return bowl(x);
  };
  for (const bool anneals : {false, true}) {
    const SearchSettings settings{.points = 2000, .population = 20, .seed = 9};
    const auto searcher =
        anneals ? annealing(field_of(space), settings) : nsga2(field_of(space), settings);
    CHECK(searched(*searcher, space, costs).best == 1);
  }
}

TEST_CASE("sweep search: it ends when there is nothing new, also in a space of one point") {
  for (const std::vector<int>& sizes : {std::vector<int>{3, 2}, {1, 1}}) {
    const Space space = grid_of(sizes);
    for (const bool anneals : {false, true}) {
      const SearchSettings settings{.points = 1000, .population = 16, .seed = 2};
      const auto searcher =
          anneals ? annealing(field_of(space), settings) : nsga2(field_of(space), settings);
      const Costs costs = [](const std::vector<double>& x) -> std::vector<double> {
        return {x[0] + 1};
      };
      CHECK(searched(*searcher, space, costs).different.size() == space.size());
    }
  }
}

}  // namespace foretrace::sweeping
