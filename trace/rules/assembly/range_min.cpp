#include "trace/rules/assembly/range_min.h"

#include <algorithm>

namespace foretrace::trace::rules {

RangeMin::RangeMin(std::size_t size) {
  while (leaves_ < size) {
    leaves_ *= 2;
  }
  tree_.assign(2 * leaves_, none);
}

void RangeMin::finish() {
  for (std::size_t i = leaves_ - 1; i > 0; --i) {
    tree_[i] = std::min(tree_[2 * i], tree_[2 * i + 1]);
  }
}

std::size_t RangeMin::first_below(std::size_t first, std::size_t last, std::int64_t limit) const {
  std::size_t node = leaves_ + first;
  while (first < last) {
    if (tree_[node] < limit) {  // it is in here: go down, left first
      if (node >= leaves_) break;
      node *= 2;
      node += tree_[node] < limit ? 0 : 1;
      first = first_of(node);
      continue;
    }
    // Not in here: on to what comes right of it, as large as it may be.
    ++node;
    if ((node & (node - 1)) == 0) return last;
    while (node % 2 == 0) {
      node /= 2;
    }
    first = first_of(node);
  }
  return std::min(first, last);
}

}  // namespace foretrace::trace::rules
