// The walk of a search through its space: which points are to be computed next, whoever does it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "apps/sweep/methods/search.h"
#include "apps/sweep/points/evaluate.h"
#include "apps/sweep/points/judge.h"
#include "apps/sweep/space/sweep.h"

namespace foretrace::sweeping {

class SearchWalk {
 public:
  /// The sweep must outlive it.
  explicit SearchWalk(const Sweep& sweep);

  /// A point that is computed: by an earlier run, or because next() asked for it.
  void know(PointResult row);
  [[nodiscard]] std::size_t known() const { return known_.size(); }
  /// Points that nobody has computed yet, each once; all that it asked for before are known.
  /// Empty: the search is over.
  [[nodiscard]] std::vector<std::uint64_t> next();

 private:
  [[nodiscard]] bool is_wanted(std::uint64_t point);
  [[nodiscard]] SeenPoint seen_as(const PointResult& row);

  const Sweep& sweep_;
  Judge judge_;
  std::vector<double> where_;
  std::unordered_map<std::uint64_t, PointResult> known_;
  std::unique_ptr<Searcher> searcher_;
  std::vector<std::uint64_t> asked_;  ///< the generation that the searcher waits for
};

}  // namespace foretrace::sweeping
