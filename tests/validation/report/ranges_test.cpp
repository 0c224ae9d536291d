#include "tests/validation/report/ranges.h"

#include <cmath>

#include <doctest/doctest.h>

#include "models/hardware/catalogue/evidence.h"

namespace foretrace::validation {
namespace {

TablePoint point_of(const std::string& framework, const std::string& accelerator, int cell,
                    double residual) {
  TablePoint point;
  point.of = {.kind = "training",
              .first = framework,
              .second = accelerator,
              .cell = std::to_string(cell),
              .ranks = static_cast<std::uint32_t>(8 + cell),
              .residual = residual};
  return point;
}

RangeKind ranges(const std::vector<TablePoint>& points) {
  TableResult table;
  table.points = points;
  const std::vector<TableResult> tables = {table};
  const auto kinds = ranges_of(tables);
  REQUIRE(kinds.size() == 1);
  return kinds.front();
}

}  // namespace

TEST_CASE("ranges: a quantile weighs what it is given") {
  const std::vector<WeighedResidual> all = {{3, 1}, {1, 1}, {2, 2}};
  CHECK(weighed_quantile(all, 0.25) == 1);
  CHECK(weighed_quantile(all, 0.75) == 2);
  CHECK(weighed_quantile(all, 0.76) == 3);
  CHECK(weighed_quantile(all, 1.6) == 3);
}

TEST_CASE("ranges: replicates of a configuration count once") {
  std::vector<TablePoint> points;
  for (int cell = 0; cell < 8; ++cell) points.push_back(point_of("a", "x", cell, 0.1));
  for (int again = 0; again < 1000; ++again) points.push_back(point_of("a", "x", 8, -0.7));
  // Nine cells: 0.8 x 10 / 9 of them are eight.
  const RangeFamily family = ranges(points).families.front();
  CHECK(family.cells.size() == 9);
  CHECK(family.factor.high == doctest::Approx(std::exp(0.1)));
  CHECK(family.factor.low == doctest::Approx(std::exp(-0.1)));
  CHECK(family.least_ranks == 8);
  CHECK(family.most_ranks == 16);
}

TEST_CASE("ranges: from ten configurations on each side is its own, and 5 % at least") {
  std::vector<TablePoint> points;
  for (int cell = 0; cell < 20; ++cell) points.push_back(point_of("a", "x", cell, -0.02 * cell));
  const RangeFamily family = ranges(points).families.front();
  // Predictions are too fast: measured steps are longer. 0.9 x 21 / 20 of them: 19 of 20.
  CHECK(family.factor.high == doctest::Approx(std::exp(0.02 * 18)));
  CHECK(family.factor.low == doctest::Approx(1 / 1.05));
}

TEST_CASE("ranges: few families say their largest residual, fewer than four half as much again") {
  std::vector<TablePoint> points;
  for (const char* const name : {"a", "c"}) {
    for (int cell = 0; cell < 5; ++cell) points.push_back(point_of(name, name, cell, 0.1));
  }
  points.push_back(point_of("c", "c", 5, 0.4));
  CHECK(ranges(points).new_family == doctest::Approx(std::exp(1.5 * 0.4)));
  const auto add_family = [&points](const char* name) {
    for (int cell = 0; cell < 5; ++cell) points.push_back(point_of(name, name, cell, 0.1));
  };
  // The largest of three holds a fourth one three times in four, which is fewer than eight in ten.
  add_family("b");
  CHECK(ranges(points).families.size() < least_families);
  CHECK(ranges(points).new_family == doctest::Approx(std::exp(1.5 * 0.4)));
  add_family("d");
  CHECK(ranges(points).new_family == doctest::Approx(std::exp(0.4)));
  add_family("e");
  // Five: 0.8 x 6 / 5 of their weight, of which one cell of six of one family is a thirtieth.
  CHECK(ranges(points).new_family == doctest::Approx(std::exp(0.1)));
}

TEST_CASE("ranges: a family that is left out is judged by the others alone") {
  std::vector<TablePoint> points;
  for (const char* const name : {"a", "b", "c", "d", "e"}) {
    const double residual = name[0] == 'e' ? 1 : 0.1;
    for (int cell = 0; cell < 5; ++cell) points.push_back(point_of(name, "x", cell, residual));
  }
  const RangeKind kind = ranges(points);
  // Four are held by the others, of which one is 1 off; the fifth is not.
  CHECK(kind.covered == doctest::Approx(0.8));
  CHECK(std::log(kind.half_width) == doctest::Approx((4 * 1 + 0.1) / 5));
}

TEST_CASE("ranges: a program on a device that is left out has what it has on others at least") {
  std::vector<TablePoint> points;
  for (const char* const name : {"a", "b", "c", "d", "e"}) {
    for (const char* const device : {"x", "y"}) {
      const double residual = name[0] == 'e' ? 1 : 0.1;
      for (int cell = 0; cell < 5; ++cell) points.push_back(point_of(name, device, cell, residual));
    }
  }
  // e on either device is held by what it is off by on the other one.
  CHECK(ranges(points).covered == doctest::Approx(1));
}

TEST_CASE("ranges: a family of few publishers is no better known than another publisher's runs") {
  std::vector<TablePoint> points;
  const auto add = [&points](const char* name, const char* publisher, int cells, double residual) {
    for (int cell = 0; cell < cells; ++cell) {
      points.push_back(point_of(name, "x", cell, residual));
      points.back().of.publisher = publisher;
    }
  };
  add("a", "maker", 90, -0.01);
  add("b", "maker", 20, 0.01);
  for (const char* const other : {"p", "q", "r", "s"}) add(other, other, 5, -0.2);
  const RangeKind kind = ranges(points);
  // Five publishers: 0.8 x 6 / 5 of them are 0.2 off or less.
  const auto width = publisher_width(std::vector<RangeKind>{kind});
  CHECK(width == doctest::Approx(0.2));
  const RangeFamily& own = kind.families.front();
  CHECK(own.publishers.size() == 1);
  CHECK(own.factor.high == doctest::Approx(std::exp(0.2)));
  CHECK(kind.new_family >= doctest::Approx(own.factor.high));
  // As soon as four publishers ran it, their own configurations say it.
  for (const char* const other : {"p", "q", "r"}) add("a", other, 5, -0.02);
  const RangeKind known = ranges(points);
  CHECK(known.families.front().publishers.size() == 4);
  CHECK(known.families.front().cells.size() == 105);
  CHECK(known.families.front().factor.high == doctest::Approx(1.05));
}

TEST_CASE("ranges: runs of a publisher that is left out are judged by all others") {
  std::vector<TablePoint> points;
  const auto add = [&points](const char* name, const char* publisher, double residual) {
    for (int cell = 0; cell < 12; ++cell) {
      points.push_back(point_of(name, "x", cell, residual));
      points.back().of.publisher = publisher;
    }
  };
  for (const char* const one : {"p", "q", "r", "s", "t"}) add(one, one, -0.1);
  add("u", "far", -1);
  TableResult table;
  table.points = points;
  for (const RangePublisher& one : left_out_publishers(std::vector<TableResult>{table})) {
    CAPTURE(one.name);
    CHECK(one.cells == 12);
    CHECK(one.covered == doctest::Approx(one.name == "far" ? 0 : 1));
  }
}

TEST_CASE("ranges: collectives are kept by machine and kind") {
  TablePoint point = point_of("dgx_h100", "all_gather", 0, 0.1);
  point.of.kind = "large_collectives";
  const std::vector<RangeKind> kinds = {ranges({point})};
  const auto read = parse_evidence(evidence_text(kinds), "ranges.json");
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  const EvidenceKind& kind = read->of(MeasuredKind::large_collectives);
  REQUIRE(kind.families.size() == 1);
  CHECK(kind.families[0].first == "dgx_h100");
  CHECK(kind.families[0].second == "all_gather");
}

TEST_CASE("ranges: the program reads the file that is written") {
  std::vector<TablePoint> points;
  for (int cell = 0; cell < 30; ++cell)
    points.push_back(point_of("a", "x", cell, 0.01 * cell - 0.2));
  const std::vector<RangeKind> kinds = {ranges(points)};
  const auto read = parse_evidence(evidence_text(kinds), "ranges.json");
  REQUIRE(read.ok());
  const EvidenceKind& kind = read->of(MeasuredKind::training);
  REQUIRE(kind.families.size() == 1);
  CHECK(kind.new_family == doctest::Approx(kinds[0].new_family).epsilon(1e-3));
  CHECK(kind.families[0].factor.high ==
        doctest::Approx(kinds[0].families[0].factor.high).epsilon(1e-3));
  CHECK(kind.families[0].cells == 30);
  // Half of the measured figures are up to exp(0.05) times the prediction.
  CHECK(kind.families[0].factor.typical == doctest::Approx(std::exp(0.05)).epsilon(1e-3));
  CHECK(read->of(MeasuredKind::prompts).families.empty());
}

}  // namespace foretrace::validation
