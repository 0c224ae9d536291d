#include "models/jobs/recordings/layer_cuts.h"

#include <algorithm>
#include <random>

#include <doctest/doctest.h>

using foretrace::cut_stages;
using foretrace::LayerTime;

namespace {

std::int64_t slowest(const std::vector<LayerTime>& layers, std::vector<std::size_t> cuts) {
  cuts.push_back(layers.size());
  std::int64_t most = 0;
  for (std::size_t s = 0; s + 1 < cuts.size(); ++s) {
    LayerTime stage;
    for (std::size_t i = cuts[s]; i < cuts[s + 1]; ++i) {
      stage.device_ns += layers[i].device_ns;
      stage.host_ns += layers[i].host_ns;
    }
    most = std::max({most, stage.device_ns, stage.host_ns});
  }
  return most;
}

/// Of all cuts into so many stages from this layer on.
std::int64_t best(const std::vector<LayerTime>& layers, std::vector<std::size_t> cuts,
                  std::size_t stages) {
  if (cuts.size() == stages) return slowest(layers, cuts);
  std::int64_t least = INT64_MAX;
  const std::size_t left = stages - cuts.size() - 1;
  for (std::size_t at = cuts.back() + 1; at + left < layers.size(); ++at) {
    cuts.push_back(at);
    least = std::min(least, best(layers, cuts, stages));
    cuts.pop_back();
  }
  return least;
}

}  // namespace

TEST_CASE("layer cuts: the slowest stage is as fast as any cut can make it") {
  std::mt19937 random(1);
  std::uniform_int_distribution<std::int64_t> time(0, 9);
  for (int run = 0; run < 200; ++run) {
    std::vector<LayerTime> layers(7);
    for (LayerTime& layer : layers) layer = {time(random), run % 2 == 0 ? 0 : time(random)};
    for (const std::size_t stages : {1U, 2U, 3U, 7U}) {
      const auto cuts = cut_stages(layers, stages);
      CHECK(cuts.size() == stages);
      CHECK(slowest(layers, cuts) == best(layers, {0}, stages));
      // So are the stages behind the first.
      if (stages < 2) continue;
      const std::vector<LayerTime> rest(layers.begin() + static_cast<std::ptrdiff_t>(cuts[1]),
                                        layers.end());
      std::vector<std::size_t> of_rest;
      for (std::size_t i = 1; i < cuts.size(); ++i) of_rest.push_back(cuts[i] - cuts[1]);
      CHECK(slowest(rest, of_rest) == best(rest, {0}, stages - 1));
    }
  }
}

TEST_CASE("layer cuts: first stages hold most, and every stage has a layer") {
  const std::vector<LayerTime> layers = {{5, 0}, {1, 0}, {1, 0}, {1, 0}, {6, 0}, {2, 0}};
  CHECK(cut_stages(layers, 1) == std::vector<std::size_t>{0});
  CHECK(cut_stages(layers, 2) == std::vector<std::size_t>{0, 4});
  CHECK(cut_stages(layers, 6) == std::vector<std::size_t>{0, 1, 2, 3, 4, 5});
  CHECK(cut_stages(std::vector<LayerTime>(3), 3) == std::vector<std::size_t>{0, 1, 2});
  // A layer of many small kernels is its host's time.
  const std::vector<LayerTime> small = {{8, 1}, {1, 8}, {1, 8}, {8, 1}};
  CHECK(cut_stages(small, 2) == std::vector<std::size_t>{0, 2});
  CHECK(cut_stages(std::vector<LayerTime>{{9, 1}, {1, 4}, {1, 4}, {1, 4}}, 2) ==
        std::vector<std::size_t>{0, 2});
}
