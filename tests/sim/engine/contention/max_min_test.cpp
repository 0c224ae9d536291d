#include "sim/engine/contention/max_min.h"

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include <doctest/doctest.h>

namespace foretrace {
namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

TEST_CASE("max_min: two flows on one link get half each, a third on its own gets all") {
  MaxMin solver;
  const std::vector<double> sizes{10.0, 4.0};
  solver.reset(sizes);
  solver.add_flow(std::vector<FlowUse>{{0, 1.0}}, unlimited);
  solver.add_flow(std::vector<FlowUse>{{0, 1.0}}, unlimited);
  solver.add_flow(std::vector<FlowUse>{{1, 1.0}}, unlimited);
  const auto rates = solver.solve();
  CHECK(rates[0] == 5.0);
  CHECK(rates[1] == 5.0);
  CHECK(rates[2] == 4.0);
}

TEST_CASE("max_min: what a flow held elsewhere leaves goes to the others") {
  // The long flow crosses both links and is held to 1 by the small one; the other gets 10 - 1.
  MaxMin solver;
  solver.reset(std::vector<double>{10.0, 2.0});
  solver.add_flow(std::vector<FlowUse>{{0, 1.0}, {1, 1.0}}, unlimited);
  solver.add_flow(std::vector<FlowUse>{{0, 1.0}}, unlimited);
  solver.add_flow(std::vector<FlowUse>{{1, 1.0}}, unlimited);
  const auto rates = solver.solve();
  CHECK(rates[0] == 1.0);
  CHECK(rates[1] == 9.0);
  CHECK(rates[2] == 1.0);
}

TEST_CASE("max_min: limits are kept and amounts weigh") {
  // Rates a and b with a + 3 b <= 8 and b <= 1: together they would stop at 2, but b stops at 1,
  // so a = 8 - 3 = 5.
  MaxMin solver;
  solver.reset(std::vector<double>{8.0});
  solver.add_flow(std::vector<FlowUse>{{0, 1.0}}, unlimited);
  solver.add_flow(std::vector<FlowUse>{{0, 3.0}}, 1.0);
  const auto rates = solver.solve();
  CHECK(rates[0] == 5.0);
  CHECK(rates[1] == 1.0);
}

TEST_CASE("max_min: a class of equal flows gets what each of them would get alone") {
  const std::vector<double> sizes{12.0, 5.0};
  const std::vector<FlowUse> both{{0, 1.0}, {1, 0.5}};
  const std::vector<FlowUse> first{{0, 2.0}};
  MaxMin one_by_one;
  one_by_one.reset(sizes);
  for (int i = 0; i < 4; ++i) {
    one_by_one.add_flow(both, 3.0);
  }
  one_by_one.add_flow(first, unlimited);
  MaxMin by_class;
  by_class.reset(sizes);
  by_class.add_flow(both, 3.0, 4.0);
  by_class.add_flow(first, unlimited);
  const auto single = one_by_one.solve();
  const auto classes = by_class.solve();
  CHECK(classes[0] == doctest::Approx(single[0]));
  CHECK(classes[1] == doctest::Approx(single[4]));
}

TEST_CASE("max_min: no flows, no uses and a capacity of size 0 are answered") {
  MaxMin solver;
  solver.reset(std::vector<double>{0.0});
  CHECK(solver.solve().empty());
  solver.add_flow({}, 1.0);
  solver.add_flow(std::vector<FlowUse>{{0, 1.0}}, 1.0);
  const auto rates = solver.solve();
  CHECK(rates[0] == 1.0);
  CHECK(rates[1] == 0.0);
}

/// A flow is held if it has its limit, or crosses a full capacity on which no rate is larger.
bool is_held(std::size_t flow, const std::vector<std::vector<FlowUse>>& uses,
             std::span<const double> rates, const std::vector<double>& limits,
             const std::vector<double>& sizes) {
  if (rates[flow] >= limits[flow] * (1 - 1e-9)) {
    return true;
  }
  return std::any_of(uses[flow].begin(), uses[flow].end(), [&](const FlowUse& use) {
    double used = 0;
    double largest = 0;
    for (std::size_t other = 0; other < uses.size(); ++other) {
      for (const FlowUse& o : uses[other]) {
        if (o.capacity != use.capacity) {
          continue;
        }
        used += o.amount * rates[other];
        largest = std::max(largest, rates[other]);
      }
    }
    return used >= sizes[use.capacity] * (1 - 1e-9) && rates[flow] >= largest * (1 - 1e-9);
  });
}

TEST_CASE("max_min: on random problems every capacity holds and every flow is held") {
  std::mt19937_64 random(7);
  const auto number = [&random](double low, double high) {
    return low + (high - low) * static_cast<double>(random() >> 11U) * 0x1p-53;
  };
  for (int round = 0; round < 200; ++round) {
    CAPTURE(round);
    std::vector<double> sizes(1 + random() % 12);
    for (double& size : sizes) {
      size = number(0.1, 100.0);
    }
    std::vector<std::vector<FlowUse>> uses(1 + random() % 40);
    std::vector<double> limits(uses.size(), unlimited);
    MaxMin solver;
    solver.reset(sizes);
    for (std::size_t flow = 0; flow < uses.size(); ++flow) {
      for (std::uint32_t c = 0; c < sizes.size(); ++c) {
        if (c == flow % sizes.size() || random() % 4 == 0) {
          uses[flow].push_back({c, number(0.001, 10.0)});
        }
      }
      if (random() % 3 == 0) {
        limits[flow] = number(0.0, 5.0);
      }
      solver.add_flow(uses[flow], limits[flow]);
    }
    const auto rates = solver.solve();
    for (std::uint32_t c = 0; c < sizes.size(); ++c) {
      double used = 0;
      for (std::size_t flow = 0; flow < uses.size(); ++flow) {
        for (const FlowUse& use : uses[flow]) {
          used += use.capacity == c ? use.amount * rates[flow] : 0;
        }
      }
      CHECK(used <= sizes[c] * (1 + 1e-9));
    }
    for (std::size_t flow = 0; flow < uses.size(); ++flow) {
      CHECK(rates[flow] <= limits[flow]);
      CHECK(is_held(flow, uses, rates, limits, sizes));
    }
  }
}

}  // namespace
}  // namespace foretrace
