#include "models/hardware/collectives/sparse_sum.h"

#include <algorithm>
#include <cmath>

namespace foretrace {

double union_density(const SparseBlocks& blocks, double workers) {
  const double common = blocks.overlap * blocks.density;
  if (common >= 1) return 1;
  const double own = (blocks.density - common) / (1 - common);
  return common + (1 - common) * (1 - std::pow(1 - own, workers));
}

double SparseLoad::fullest() const { return std::max({up, down, server}); }

SparseLoad sparse_load(SparseMethod method, const SparseBlocks& blocks, double workers,
                       double servers) {
  const double one = blocks.density * blocks.with_index();
  if (method == SparseMethod::all_gather) return {(workers - 1) * one, (workers - 1) * one, 0};
  const double all = union_density(blocks, workers) * blocks.with_index();
  if (method == SparseMethod::network) return {one, all, 0};
  return {one, all, workers * std::max(one, all) / servers};
}

double ring_load(double workers) { return 2 * (workers - 1) / workers; }

}  // namespace foretrace
