#include "apps/sweep/space/space.h"

#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sim/core/config_text.h"

namespace foretrace::sweeping {
namespace {

Axis listed(const std::string& name, int count, std::size_t group) {
  Axis axis{.name = name, .pointer = "/" + name};
  for (int i = 0; i < count; ++i) axis.values.push_back(text_value(name + std::to_string(i)));
  axis.group = group;
  return axis;
}

Space space_of(std::vector<Axis> axes, Method method, std::uint64_t samples = 1,
               std::uint64_t seed = 0) {
  auto space = Space::make(std::move(axes), method, samples, seed);
  REQUIRE(space.ok());
  return std::move(*space);
}

std::string text_at(const Space& space, std::uint64_t point) {
  std::vector<double> where(space.axes().size());
  space.at(point, where);
  std::string text;
  for (std::size_t i = 0; i < where.size(); ++i) {
    text += (text.empty() ? "" : " ") + Space::text_of(space.axes()[i], where[i]);
  }
  return text;
}

}  // namespace

TEST_CASE("sweep space: a grid counts through all combinations, the last axis fastest") {
  const Space space = space_of({listed("a", 2, 0), listed("b", 3, 1)}, Method::grid);
  REQUIRE(space.size() == 6);
  CHECK(text_at(space, 0) == "a0 b0");
  CHECK(text_at(space, 1) == "a0 b1");
  CHECK(text_at(space, 5) == "a1 b2");
}

TEST_CASE("sweep space: zipped axes move together") {
  const Space space =
      space_of({listed("a", 2, 0), listed("b", 2, 0), listed("c", 2, 1)}, Method::grid);
  REQUIRE(space.size() == 4);
  CHECK(text_at(space, 1) == "a0 b0 c1");
  CHECK(text_at(space, 2) == "a1 b1 c0");
}

TEST_CASE(
    "sweep space: random points of a grid are different, and all of it if so many are asked") {
  const Space space = space_of({listed("a", 7, 0), listed("b", 11, 1)}, Method::random, 1000, 42);
  REQUIRE(space.size() == 77);
  std::set<std::string> seen;
  for (std::uint64_t point = 0; point < space.size(); ++point) seen.insert(text_at(space, point));
  CHECK(seen.size() == 77);
}

TEST_CASE("sweep space: the seed decides which points are drawn, and nothing else does") {
  const auto draw = [](std::uint64_t seed) {
    const Space space =
        space_of({listed("a", 50, 0), listed("b", 50, 1)}, Method::random, 20, seed);
    std::string all;
    for (std::uint64_t point = 0; point < 20; ++point) all += text_at(space, point) + "\n";
    return all;
  };
  CHECK(draw(1) == draw(1));
  CHECK(draw(1) != draw(2));
}

TEST_CASE("sweep space: a Latin hypercube has one point in every stratum of every range") {
  Axis x{.name = "x", .pointer = "/x", .from = 0, .to = 100};
  Axis y{.name = "y", .pointer = "/y", .from = 1, .to = 1024, .is_logarithmic = true, .group = 1};
  const Space space = space_of({x, y}, Method::latin_hypercube, 100, 7);
  REQUIRE(space.size() == 100);
  std::set<int> strata;
  for (std::uint64_t point = 0; point < 100; ++point) {
    std::vector<double> where(2);
    space.at(point, where);
    strata.insert(static_cast<int>(where[0]));  // 100 strata of length 1
    CHECK(where[1] >= 1);
    CHECK(where[1] <= 1024);
  }
  CHECK(strata.size() == 100);
}

TEST_CASE("sweep space: a listed axis of a Latin hypercube has every value equally often") {
  const Space space = space_of({listed("a", 4, 0)}, Method::latin_hypercube, 40, 3);
  std::multiset<std::string> seen;
  for (std::uint64_t point = 0; point < 40; ++point) seen.insert(text_at(space, point));
  CHECK(seen.count("a0") == 10);
  CHECK(seen.count("a3") == 10);
}

TEST_CASE("sweep space: values of a range carry its unit") {
  Axis x{.name = "x", .pointer = "/x", .from = 1, .to = 2, .unit = "GB/s"};
  CHECK(Space::text_of(x, 1.5) == "1.5 GB/s");
  CHECK(Space::value_of(x, 1.5).kind == ConfigValue::Kind::text);
}

TEST_CASE("sweep space: neighbours of a narrow range are different numbers") {
  Axis narrow{.name = "x", .pointer = "/x", .from = 1'000'000, .to = 1'000'001};
  const Space space = space_of({narrow}, Method::random, 1000, 5);
  std::set<std::string> seen;
  for (std::uint64_t point = 0; point < 1000; ++point) seen.insert(text_at(space, point));
  CHECK(seen.size() > 990);  // of a million numbers a thousand are drawn: 0.5 pairs are expected
  CHECK(at_share(narrow, 0.25) == 1'000'000.25);
  CHECK(Space::text_of(narrow, 1'000'000.25) == "1000000.25");
}

TEST_CASE("sweep space: numbers of a range are what a pocket calculator shows") {
  const Axis tenths{.name = "x", .pointer = "/x", .from = 0, .to = 1};
  CHECK(at_share(tenths, 3.0 / 10) == 0.3);
  const Axis thirds{.name = "x", .pointer = "/x", .from = 1, .to = 3};
  CHECK(at_share(thirds, 1.0 / 3) == doctest::Approx(5.0 / 3).epsilon(1e-14));
  const Axis powers{.name = "x", .pointer = "/x", .from = 1, .to = 1024, .is_logarithmic = true};
  CHECK(at_share(powers, 0.3) == 8);
}

}  // namespace foretrace::sweeping
