#include "apps/scheduling/policies/share_classes.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace foretrace::scheduling {
namespace {

// The solver is exact to 1e-7; less than a part of that is no share, and no claim to a turn.
double without_dust(double share) {
  constexpr double dust = 1e-9;
  if (share < dust) return 0;
  return share > 1 - dust ? 1 : share;
}

}  // namespace

std::vector<JobClass> classes_of(const View& view) {
  using Key = std::tuple<std::vector<double>, std::int32_t, double>;
  std::map<Key, std::size_t> known;
  std::vector<JobClass> classes;
  for (const JobId id : view.active) {
    const Job& job = view.job(id);
    std::vector<double> rates;
    for (std::size_t k = 0; k < view.kinds(); ++k) {
      rates.push_back(view.rate(id, make_id<KindId>(k)));
    }
    const auto [at, is_new] =
        known.try_emplace(Key{rates, job.request.gpus, job.weight}, classes.size());
    if (is_new) {
      classes.push_back(
          {.jobs = {}, .rates = rates, .gpus = job.request.gpus, .weight = job.weight});
    }
    classes[at->second].jobs.push_back(id);
  }
  return classes;
}

std::vector<double> equal_division(const View& view, std::int32_t gpus) {
  std::vector<double> shares;
  const auto jobs = static_cast<double>(std::max<std::size_t>(1, view.active.size()));
  for (const std::int32_t capacity : view.capacity->values()) {
    shares.push_back(capacity / jobs / std::max(1, gpus));
  }
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  if (sum > 1) {
    for (double& share : shares) share /= sum;
  }
  return shares;
}

std::vector<double> spread_over_kinds(const View& view, double share) {
  std::vector<double> shares;
  const double total = std::max(1, view.total());
  for (const std::int32_t capacity : view.capacity->values()) {
    shares.push_back(share * capacity / total);
  }
  return shares;
}

ShareProgram share_program(const View& view, const std::vector<JobClass>& classes) {
  ShareProgram made;
  LinearProgram& program = made.program;
  std::vector<std::size_t> kind_rows;
  for (const std::int32_t capacity : view.capacity->values()) {
    kind_rows.push_back(program.add_row(-no_limit, capacity));
  }
  for (const JobClass& jobs : classes) {
    const auto number = static_cast<double>(jobs.jobs.size());
    const std::size_t time_row = program.add_row(-no_limit, number);
    std::vector<std::size_t> columns;
    for (std::size_t k = 0; k < view.kinds(); ++k) {
      columns.push_back(program.add_column(0, 0, jobs.rates[k] > 0 ? number : 0));
      program.add(time_row, columns.back(), 1);
      program.add(kind_rows[k], columns.back(), jobs.gpus);
    }
    made.columns.push_back(std::move(columns));
  }
  return made;
}

std::vector<ShareRow> divide(const ShareProgram& shares, const std::vector<JobClass>& classes,
                             const LinearSolution& solution) {
  std::vector<ShareRow> rows;
  for (std::size_t c = 0; c < classes.size(); ++c) {
    std::vector<double> part;
    for (const std::size_t column : shares.columns[c]) {
      const double share = solution.columns[column] / static_cast<double>(classes[c].jobs.size());
      part.push_back(without_dust(share));
    }
    for (const JobId job : classes[c].jobs) rows.push_back({.job = job, .share = part});
  }
  std::sort(rows.begin(), rows.end(),
            [](const ShareRow& a, const ShareRow& b) { return a.job < b.job; });
  return rows;
}

}  // namespace foretrace::scheduling
