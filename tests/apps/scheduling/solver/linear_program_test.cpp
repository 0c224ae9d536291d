#include "apps/scheduling/solver/linear_program.h"

#include <bit>
#include <cmath>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "sim/core/mersenne.h"

namespace foretrace::scheduling::test {
namespace {

// The best vertex of a small program with columns from 0 up and rows "<= limit": every choice of as
// many tight constraints as there are columns is solved by elimination.
double best_vertex(const std::vector<double>& gains, const std::vector<std::vector<double>>& rows,
                   const std::vector<double>& limits) {
  const std::size_t n = gains.size();
  const std::size_t all = rows.size() + n;
  double best = -1e300;
  for (std::uint32_t chosen = 0; chosen < (1U << all); ++chosen) {
    if (static_cast<std::size_t>(std::popcount(chosen)) != n) continue;
    std::vector<std::vector<double>> a;
    for (std::size_t c = 0; c < all; ++c) {
      if ((chosen >> c & 1U) == 0) continue;
      std::vector<double> row(n + 1, 0.0);
      for (std::size_t j = 0; j < n; ++j)
        row[j] = c < rows.size() ? rows[c][j] : (c - rows.size() == j ? 1 : 0);
      row[n] = c < rows.size() ? limits[c] : 0;
      a.push_back(row);
    }
    bool singular = false;
    for (std::size_t i = 0; i < n && !singular; ++i) {
      std::size_t pivot = i;
      for (std::size_t r = i + 1; r < n; ++r) {
        if (std::abs(a[r][i]) > std::abs(a[pivot][i])) pivot = r;
      }
      singular = std::abs(a[pivot][i]) < 1e-9;
      if (singular) break;
      std::swap(a[i], a[pivot]);
      for (std::size_t r = 0; r < n; ++r) {
        if (r == i) continue;
        const double factor = a[r][i] / a[i][i];
        for (std::size_t j = i; j <= n; ++j) a[r][j] -= factor * a[i][j];
      }
    }
    if (singular) continue;
    double gain = 0;
    bool feasible = true;
    std::vector<double> x(n);
    for (std::size_t i = 0; i < n; ++i) {
      x[i] = a[i][n] / a[i][i];
      feasible &= x[i] >= -1e-9;
      gain += gains[i] * x[i];
    }
    for (std::size_t r = 0; r < rows.size(); ++r) {
      double sum = 0;
      for (std::size_t j = 0; j < n; ++j) sum += rows[r][j] * x[j];
      feasible &= sum <= limits[r] + 1e-7;
    }
    if (feasible) best = std::max(best, gain);
  }
  return best;
}

TEST_CASE("linear program: the optimum is that of the best vertex, for random programs") {
  Random random(7);
  for (int trial = 0; trial < 200; ++trial) {
    const std::size_t n = 2 + random.below(3);
    const std::size_t m = 2 + random.below(4);
    std::vector<double> gains;
    std::vector<std::vector<double>> rows(m);
    std::vector<double> limits;
    for (std::size_t j = 0; j < n; ++j) gains.push_back(random.uniform(-1, 3));
    for (std::vector<double>& row : rows) {
      for (std::size_t j = 0; j < n; ++j) row.push_back(random.uniform(0.1, 2));
      limits.push_back(random.uniform(1, 5));
    }
    LinearProgram program;
    for (const double gain : gains) program.add_column(gain);
    for (std::size_t r = 0; r < m; ++r) {
      const std::size_t row = program.add_row(-no_limit, limits[r]);
      for (std::size_t j = 0; j < n; ++j) program.add(row, j, rows[r][j]);
    }
    const auto solution = program.maximize();
    REQUIRE(solution.ok());
    CHECK(solution->objective == doctest::Approx(best_vertex(gains, rows, limits)).epsilon(1e-6));
  }
}

TEST_CASE("linear program: what cannot be is said") {
  LinearProgram impossible;
  impossible.add_column(1);
  impossible.add(impossible.add_row(2, no_limit), 0, 1);
  impossible.add(impossible.add_row(-no_limit, 1), 0, 1);
  CHECK(impossible.maximize().error().code == ErrorCode::no_match);
  LinearProgram endless;
  endless.add_column(1);
  CHECK(endless.maximize().error().code == ErrorCode::unsupported);
}

}  // namespace
}  // namespace foretrace::scheduling::test
