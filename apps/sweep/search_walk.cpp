#include "apps/sweep/search_walk.h"

#include <unordered_set>
#include <utility>

namespace foretrace::sweeping {

SearchWalk::SearchWalk(const Sweep& sweep)
    : sweep_(sweep), judge_(sweep), where_(sweep.axes().size()) {
  SearchField field{sweep.space, [this](std::uint64_t point) { return is_wanted(point); }};
  searcher_ = sweep.method == Method::nsga2 ? nsga2(std::move(field), sweep.search)
                                            : annealing(std::move(field), sweep.search);
}

void SearchWalk::know(PointResult row) { known_.insert_or_assign(row.point, std::move(row)); }

std::vector<std::uint64_t> SearchWalk::next() {
  for (;;) {
    if (!asked_.empty()) {
      std::vector<SeenPoint> answers;
      for (const std::uint64_t point : asked_) answers.push_back(seen_as(known_.at(point)));
      searcher_->tell(answers);
    }
    asked_ = searcher_->ask();
    if (asked_.empty()) return {};
    std::vector<std::uint64_t> missing;
    std::unordered_set<std::uint64_t> noted;  // two chains may ask for one point
    for (const std::uint64_t point : asked_) {
      if (!known_.contains(point) && noted.insert(point).second) missing.push_back(point);
    }
    if (!missing.empty()) return missing;
  }
}

bool SearchWalk::is_wanted(std::uint64_t point) {
  std::string reason;
  sweep_.space.at(point, where_);
  return judge_.is_wanted(where_, reason) && reason.empty();
}

SeenPoint SearchWalk::seen_as(const PointResult& row) {
  SeenPoint seen{.point = row.point,
                 .is_computed = !row.metrics.empty(),
                 .is_feasible = judge_.is_feasible(row)};
  if (!seen.is_computed) return seen;
  for (std::size_t i = 0; i < sweep_.objectives.size(); ++i) {
    seen.costs.push_back(judge_.cost(row, i));
  }
  return seen;
}

}  // namespace foretrace::sweeping
