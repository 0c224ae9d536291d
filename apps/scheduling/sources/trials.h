// Trials of a search of hyperparameters as jobs: a grid, successive halving, HyperBand, or
// asynchronous successive halving.
#pragma once

#include <cstddef>
#include <cstdint>

#include "apps/scheduling/model/workload.h"

namespace foretrace::scheduling {

enum class SearchKind : std::uint8_t {
  grid,       ///< every trial to the end
  halving,    ///< a rung begins when all of the last one are over, with the best of them
  hyperband,  ///< brackets of halving that begin with fewer trials and more steps, all at once
  asha        ///< the same trials go as far as in halving, and nobody waits
};

struct SearchOptions {
  SearchKind kind = SearchKind::halving;
  std::size_t trials = 1;  ///< not of HyperBand, whose brackets follow from its rungs
  std::int32_t eta = 3;    ///< one in so many goes on, with so many times the steps
  std::int32_t rungs = 1;  ///< the last one takes steps x eta^(rungs - 1) in all
  double steps = 1;        ///< of the first rung
  double spread = 0;       ///< steps of a trial take (1 + spread)^u, u evenly from -1 to 1
  double noise = 0;        ///< of a score, beside qualities that are even from 0 to 1
  std::uint64_t seed = 0;
  TypeId type{};  ///< what they run
  std::int32_t gpus = 1;
  std::int32_t least_gpus = 0;
  std::int32_t most_gpus = 0;  ///< 0: not elastic
};

/// Trials that HyperBand's bracket `bracket` begins with, of `rungs` brackets from 0.
[[nodiscard]] std::size_t bracket_trials(std::int32_t rungs, std::int32_t eta,
                                         std::int32_t bracket);

/// A job per trial and rung, a group per rung. All arrive at 0.
void add_trials(const SearchOptions& options, Workload& workload);

}  // namespace foretrace::scheduling
