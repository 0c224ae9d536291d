#include "models/editing/tensors/max_flow.h"

#include <algorithm>

namespace foretrace::editing {

void MaxFlow::add_edge(std::size_t from, std::size_t to, std::int64_t capacity) {
  edges_of_[from].push_back(edges_.size());
  edges_.push_back({to, capacity});
  edges_of_[to].push_back(edges_.size());
  edges_.push_back({from, 0});
}

bool MaxFlow::find_levels(std::size_t source, std::size_t sink) {
  level_.assign(edges_of_.size(), -1);
  level_[source] = 0;
  std::vector<std::size_t> open = {source};
  for (std::size_t i = 0; i < open.size(); ++i) {
    for (const std::size_t e : edges_of_[open[i]]) {
      if (edges_[e].left <= 0 || level_[edges_[e].to] >= 0) continue;
      level_[edges_[e].to] = level_[open[i]] + 1;
      open.push_back(edges_[e].to);
    }
  }
  return level_[sink] >= 0;
}

// One path along ascending levels; networks are deep, so that nothing recurses.
std::int64_t MaxFlow::augment(std::size_t source, std::size_t sink) {
  std::vector<std::size_t> path;
  std::size_t at = source;
  while (at != sink) {
    std::size_t& tried = next_[at];
    while (tried < edges_of_[at].size()) {
      const Edge& edge = edges_[edges_of_[at][tried]];
      if (edge.left > 0 && level_[edge.to] == level_[at] + 1) break;
      ++tried;
    }
    if (tried < edges_of_[at].size()) {
      path.push_back(edges_of_[at][tried]);
      at = edges_[path.back()].to;
    } else if (path.empty()) {
      return 0;
    } else {
      at = edges_[path.back() ^ 1U].to;
      path.pop_back();
      ++next_[at];
    }
  }
  std::int64_t flow = unlimited;
  for (const std::size_t e : path) flow = std::min(flow, edges_[e].left);
  for (const std::size_t e : path) {
    edges_[e].left -= flow;
    edges_[e ^ 1U].left += flow;
  }
  return flow;
}

std::int64_t MaxFlow::run(std::size_t source, std::size_t sink) {
  std::int64_t all = 0;
  while (find_levels(source, sink)) {
    next_.assign(edges_of_.size(), 0);
    for (std::int64_t flow = augment(source, sink); flow > 0; flow = augment(source, sink)) {
      all = std::min(all + flow, unlimited);
      if (all == unlimited) return all;
    }
  }
  return all;
}

std::vector<bool> MaxFlow::source_side() const {
  std::vector<bool> side(level_.size(), false);
  for (std::size_t i = 0; i < side.size(); ++i) side[i] = level_[i] >= 0;
  return side;
}

}  // namespace foretrace::editing
