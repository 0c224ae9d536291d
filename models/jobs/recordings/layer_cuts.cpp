#include "models/jobs/recordings/layer_cuts.h"

#include <algorithm>
#include <numeric>

namespace foretrace {
namespace {

std::int64_t time_of(const LayerTime& stage) { return std::max(stage.device_ns, stage.host_ns); }

LayerTime both(const LayerTime& a, const LayerTime& b) {
  return {a.device_ns + b.device_ns, a.host_ns + b.host_ns};
}

/// Stages filled one after the other up to `most`, the later ones with at least a layer each.
std::vector<std::size_t> filled(std::span<const LayerTime> layers, std::size_t stages,
                                std::int64_t most) {
  std::vector<std::size_t> cuts = {0};
  LayerTime sum;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const bool needs_rest = layers.size() - i <= stages - cuts.size();
    if (i > 0 && (needs_rest || time_of(both(sum, layers[i])) > most)) {
      cuts.push_back(i);
      sum = {};
    }
    sum = both(sum, layers[i]);
  }
  return cuts;
}

/// Where the second stage begins if no stage takes longer than the slowest one must.
std::size_t second_stage(std::span<const LayerTime> layers, std::size_t stages) {
  // The least time that no stage exceeds, by bisection.
  std::int64_t low = 0;
  LayerTime all;
  for (const LayerTime& layer : layers) {
    low = std::max(low, time_of(layer));
    all = both(all, layer);
  }
  std::int64_t high = time_of(all);
  while (low < high) {
    const std::int64_t middle = std::midpoint(low, high);
    if (filled(layers, stages, middle).size() <= stages) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return filled(layers, stages, high)[1];
}

}  // namespace

std::vector<std::size_t> cut_stages(std::span<const LayerTime> layers, std::size_t stages) {
  std::vector<std::size_t> cuts = {0};
  // One that is slow anyway, as where data is loaded, makes none of the others slow.
  for (std::size_t left = stages; left > 1; --left) {
    cuts.push_back(cuts.back() + second_stage(layers.subspan(cuts.back()), left));
  }
  return cuts;
}

}  // namespace foretrace
