#include "apps/report/schedule/schedule_lanes.h"

#include <algorithm>

#include <fmt/format.h>

namespace foretrace::app {

using scheduling::Bar;
using scheduling::Cluster;
using scheduling::NodeId;
using scheduling::Slice;

std::vector<ScheduleLane> lanes_of(const Cluster& cluster) {
  std::vector<ScheduleLane> lanes;
  for (std::size_t n = 0; n < cluster.nodes.size(); ++n) {
    const auto node = make_id<NodeId>(n);
    for (std::int32_t gpu = 0; gpu < cluster.nodes[node].gpus; ++gpu) {
      const std::string& kind = cluster.kinds[cluster.nodes[node].kind].name;
      lanes.push_back({node, gpu, fmt::format("{} on node {}, {}", kind, n, gpu)});
    }
  }
  return lanes;
}

std::vector<std::vector<std::size_t>> lanes_of_bars(const Cluster& cluster,
                                                    const scheduling::Outcome& outcome) {
  std::vector<std::size_t> first(cluster.nodes.size() + 1, 0);
  for (std::size_t n = 0; n < cluster.nodes.size(); ++n) {
    const auto gpus = static_cast<std::size_t>(cluster.nodes[make_id<NodeId>(n)].gpus);
    first[n + 1] = first[n] + gpus;
  }
  const std::vector<ScheduleLane> lanes = lanes_of(cluster);
  std::vector<std::int64_t> free_from(lanes.size(), 0);
  std::vector<std::vector<std::size_t>> placed;
  placed.reserve(outcome.bars.size());
  for (const Bar& bar : outcome.bars) {
    std::vector<std::size_t>& mine = placed.emplace_back();
    for (const Slice& slice : bar.slices) {
      const std::size_t begin = first[index(slice.node)];
      for (std::size_t lane = begin; lane < first[index(slice.node) + 1]; ++lane) {
        if ((slice.gpus >> (lane - begin) & 1U) != 0) mine.push_back(lane);
      }
    }
    for (std::size_t lane = 0; bar.slices.empty() && lane < lanes.size(); ++lane) {
      if (mine.size() == static_cast<std::size_t>(bar.gpus)) break;
      if (cluster.nodes[lanes[lane].node].kind != bar.kind) continue;
      if (free_from[lane] <= bar.begin_ns) mine.push_back(lane);
    }
    for (const std::size_t lane : mine) free_from[lane] = std::max(free_from[lane], bar.end_ns);
  }
  return placed;
}

}  // namespace foretrace::app
