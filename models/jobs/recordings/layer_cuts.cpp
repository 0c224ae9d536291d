#include "models/jobs/recordings/layer_cuts.h"

#include <algorithm>
#include <numeric>

namespace foretrace {
namespace {

/// Stages filled one after the other up to `most`, the later ones with at least a layer each.
std::vector<std::size_t> filled(std::span<const std::int64_t> layer_ns, std::size_t stages,
                                std::int64_t most) {
  std::vector<std::size_t> cuts = {0};
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < layer_ns.size(); ++i) {
    const bool needs_rest = layer_ns.size() - i <= stages - cuts.size();
    if (i > 0 && (needs_rest || sum + layer_ns[i] > most)) {
      cuts.push_back(i);
      sum = 0;
    }
    sum += layer_ns[i];
  }
  return cuts;
}

}  // namespace

std::vector<std::size_t> cut_stages(std::span<const std::int64_t> layer_ns, std::size_t stages) {
  // The least time that no stage exceeds, by bisection.
  std::int64_t low = 0;
  std::int64_t high = 0;
  for (const std::int64_t ns : layer_ns) {
    low = std::max(low, ns);
    high += ns;
  }
  while (low < high) {
    const std::int64_t middle = std::midpoint(low, high);
    if (filled(layer_ns, stages, middle).size() <= stages) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return filled(layer_ns, stages, high);
}

}  // namespace foretrace
