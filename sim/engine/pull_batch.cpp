// Batched pull: many variants of one topology.
#include "sim/engine/pull.h"

namespace foretrace {

std::vector<Timeline> simulate_batch(const Topology& topology, std::span<const Weights> variants) {
  std::vector<Timeline> timelines(variants.size());
  for (std::size_t i = 0; i < variants.size(); ++i) {
    simulate(topology, variants[i], timelines[i]);
  }
  return timelines;
}

std::vector<std::int64_t> simulate_batch_spans(const Topology& topology,
                                               std::span<const Weights> variants) {
  std::vector<std::int64_t> spans;
  spans.reserve(variants.size());
  Timeline timeline;
  for (const Weights& weights : variants) {
    simulate(topology, weights, timeline);
    spans.push_back(timeline.span_ns);
  }
  return spans;
}

}  // namespace foretrace
