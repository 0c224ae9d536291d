#include "apps/sweep/store/select.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "apps/sweep/points/judge.h"

namespace foretrace::sweeping {
namespace {

/// Costs of all objectives: the smaller the better.
struct Ranked {
  PointResult result;
  std::vector<double> costs;
};

bool comes_first(const Ranked& a, const Ranked& b) {
  return a.costs != b.costs ? a.costs < b.costs : a.result.point < b.result.point;
}

/// At least as good in all, and better in one.
bool dominates(const Ranked& a, const Ranked& b) {
  bool is_better = false;
  for (std::size_t i = 0; i < a.costs.size(); ++i) {
    if (a.costs[i] > b.costs[i]) return false;
    is_better = is_better || a.costs[i] < b.costs[i];
  }
  return is_better;
}

class BestPoints {
 public:
  explicit BestPoints(const PointQuestion& question) : question_(question) {}

  void see(Ranked point) {
    if (question_.pareto) {
      const auto is_beaten = [&](const Ranked& other) { return dominates(other, point); };
      if (std::any_of(kept_.begin(), kept_.end(), is_beaten)) return;
      std::erase_if(kept_, [&](const Ranked& other) { return dominates(point, other); });
      kept_.push_back(std::move(point));
      return;
    }
    const bool is_full = kept_.size() >= question_.top;
    if (is_full && !comes_first(point, kept_.front())) return;
    kept_.push_back(std::move(point));
    std::push_heap(kept_.begin(), kept_.end(), comes_first);  // the worst one in front
    if (!is_full) return;
    std::pop_heap(kept_.begin(), kept_.end(), comes_first);
    kept_.pop_back();
  }

  std::vector<Ranked> take() {
    std::sort(kept_.begin(), kept_.end(), comes_first);
    if (question_.top > 0 && kept_.size() > question_.top) {
      kept_.erase(kept_.begin() + static_cast<std::ptrdiff_t>(question_.top), kept_.end());
    }
    return std::move(kept_);
  }

 private:
  const PointQuestion& question_;
  std::vector<Ranked> kept_;
};

}  // namespace

Result<StoredSweep> open_stored(const std::string& folder) {
  FORETRACE_TRY(auto store, Store::read(folder));
  auto sweep = stored_sweep(store);
  if (!sweep.ok()) return std::move(sweep).error().with_context(store_file(folder));
  return StoredSweep{std::move(*sweep), std::move(store)};
}

Result<SweepCounts> select_points(const StoredSweep& stored, const PointQuestion& question,
                                  const std::function<Status(const SelectedPoint&)>& visit) {
  const Sweep& sweep = stored.sweep;
  const bool ranks = question.pareto || question.top > 0;
  Judge judge(sweep);
  BestPoints best(question);
  SweepCounts counts{.points = sweep.space.size()};
  const auto costs_of = [&](const PointResult& row) {
    std::vector<double> costs(sweep.objectives.size());
    for (std::size_t i = 0; i < costs.size(); ++i) costs[i] = judge.cost(row, i);
    return costs;
  };
  const std::vector<double> worst(sweep.objectives.size(), std::numeric_limits<double>::infinity());
  const auto show = [&](const PointResult& row, bool is_feasible, std::vector<double> costs) {
    for (std::size_t i = 0; i < costs.size(); ++i) {
      if (sweep.objectives[i].is_maximized) costs[i] = -costs[i];
    }
    ++counts.selected;
    return visit({row, is_feasible, std::move(costs)});
  };
  const Status read = stored.store.for_each(sweep, [&](const PointResult& row) -> Status {
    ++counts.rows;
    counts.failed += row.metrics.empty() ? 1 : 0;
    const bool is_feasible = judge.is_feasible(row);
    counts.feasible += is_feasible ? 1 : 0;
    const bool is_asked = !question.where || judge.holds(*question.where, row);
    std::vector<double> costs = row.metrics.empty() ? worst : costs_of(row);
    counts.undefined += judge.take_undefined() ? 1 : 0;
    if (!is_asked) return ok_status();
    if (!ranks) return show(row, is_feasible, std::move(costs));
    if (is_feasible) best.see({row, std::move(costs)});
    return ok_status();
  });
  FORETRACE_TRY(read);
  for (Ranked& one : best.take()) {
    FORETRACE_TRY(show(one.result, true, std::move(one.costs)));
  }
  return counts;
}

}  // namespace foretrace::sweeping
