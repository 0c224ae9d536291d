#include "sim/result/export/module_slices.h"

#include <algorithm>
#include <map>
#include <utility>

namespace foretrace {
namespace {

constexpr std::size_t deepest = 16;

std::string_view layer_of(const TaskGraph& graph, TaskId task) {
  return graph.names()[graph.context().layers[index(graph.layer(task))].name];
}

/// The phase, then the modules from the outermost on.
void set_path(const TaskGraph& graph, TaskId task, std::vector<std::string_view>& path) {
  path.assign(1, to_string(graph.phase(task)));
  const std::string_view layer = layer_of(graph, task);
  for (std::size_t from = 0; from < layer.size() && path.size() < deepest;) {
    const std::size_t to = std::min(layer.find('/', from), layer.size());
    path.push_back(layer.substr(from, to - from));
    from = to + 1;
  }
}

}  // namespace

std::vector<ModuleSlice> module_slices(const TaskGraph& graph, const Timeline& timeline,
                                       LaneId stream) {
  std::vector<TaskId> tasks;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    if (graph.lane_id(task) == stream && graph.kind(task) != TaskKind::mark) {
      tasks.push_back(task);
    }
  }
  std::stable_sort(tasks.begin(), tasks.end(),
                   [&](TaskId a, TaskId b) { return timeline.start_ns(a) < timeline.start_ns(b); });
  std::vector<ModuleSlice> slices;
  std::vector<std::size_t> open;  // of slices, by depth
  std::vector<std::string_view> path;
  std::int32_t step = 0;
  for (const TaskId task : tasks) {
    set_path(graph, task, path);
    std::size_t common = 0;
    if (graph.step(task) == step) {
      while (common < std::min(open.size(), path.size()) &&
             slices[open[common]].name == path[common]) {
        ++common;
      }
    }
    step = graph.step(task);
    const std::int64_t begin = timeline.start_ns(task);
    // Kernels may overlap a little: a slice ends where the next one begins at the latest.
    for (; open.size() > common; open.pop_back()) {
      slices[open.back()].end_ns = std::min(slices[open.back()].end_ns, begin);
    }
    for (std::size_t depth = common; depth < path.size(); ++depth) {
      open.push_back(slices.size());
      slices.push_back({path[depth], depth, begin, begin});
    }
    for (const std::size_t slice : open) {
      slices[slice].end_ns = std::max(slices[slice].end_ns, timeline.end_ns(task));
    }
  }
  return slices;
}

std::vector<LaneId> module_streams(const TaskGraph& graph) {
  const std::vector<Lane>& lanes = graph.context().lanes;
  std::vector<std::int64_t> busy(lanes.size(), 0);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    if (is_device(graph.kind(task)) && !layer_of(graph, task).empty()) {
      busy[index(graph.lane_id(task))] += graph.duration_ns(task);
    }
  }
  std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> longest;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    if (busy[i] > 0) {
      const auto [at, is_new] = longest.try_emplace({lanes[i].rank, lanes[i].device}, i);
      if (!is_new && busy[i] > busy[at->second]) {
        at->second = i;
      }
    }
  }
  std::vector<LaneId> streams;
  streams.reserve(longest.size());
  for (const auto& [device, lane] : longest) {
    streams.push_back(make_id<LaneId>(lane));
  }
  std::sort(streams.begin(), streams.end());
  return streams;
}

}  // namespace foretrace
