#include "apps/scheduling/placements/gang.h"

#include <algorithm>

namespace foretrace::scheduling {

std::uint64_t first_free(const NodeFree& node, std::int32_t count) {
  std::uint64_t mask = 0;
  for (std::size_t i = 0; i < node.milli.size() && count > 0; ++i) {
    if (node.milli[i] != whole) continue;
    mask |= std::uint64_t{1} << i;
    --count;
  }
  return mask;
}

std::int32_t tightest(const NodeFree& node, std::int32_t milli) {
  std::int32_t best = -1;
  for (std::size_t i = 0; i < node.milli.size(); ++i) {
    if (node.milli[i] < milli) continue;
    if (best < 0 || node.milli[i] < node.milli[static_cast<std::size_t>(best)]) {
      best = static_cast<std::int32_t>(i);
    }
  }
  return best;
}

Slice slice_on(const Occupancy& occupancy, NodeId id, const Request& request) {
  const NodeFree& node = occupancy.node(id);
  Slice slice{.node = id,
              .gpus = 0,
              .milli = request.milli,
              .cpu_milli = request.cpu_milli,
              .memory_mib = request.memory_mib};
  if (request.milli == whole) {
    slice.gpus = first_free(node, request.gpus);
  } else if (request.gpus > 0) {
    slice.gpus = std::uint64_t{1} << static_cast<unsigned>(tightest(node, request.milli));
  }
  return slice;
}

std::vector<Slice> slices_on(const Occupancy& occupancy, const Request& request,
                             const std::vector<std::pair<NodeId, std::int32_t>>& per_node) {
  std::vector<Slice> slices;
  for (const auto& [id, gpus] : per_node) {
    if (gpus <= 0) continue;
    slices.push_back({.node = id,
                      .gpus = first_free(occupancy.node(id), gpus),
                      .milli = whole,
                      .cpu_milli = share_of(request.cpu_milli, gpus, request),
                      .memory_mib = share_of(request.memory_mib, gpus, request)});
  }
  std::sort(slices.begin(), slices.end(),
            [](const Slice& a, const Slice& b) { return a.node < b.node; });
  return slices;
}

std::int32_t room_for(const NodeFree& node, const Request& request) {
  std::int32_t gpus = std::min(node.free_gpus(), request.gpus);
  while (gpus > 0 && !node.has_host_room(request, gpus)) --gpus;
  return gpus;
}

double share_left(const Occupancy& occupancy, NodeId id, const Request& request) {
  const NodeFree& free = occupancy.node(id);
  const Node& whole_node = occupancy.whole_node(id);
  double sum = 0;
  int counted = 0;
  const auto add = [&](std::int64_t left, std::int64_t all) {
    if (all <= 0) return;
    sum += static_cast<double>(left) / static_cast<double>(all);
    ++counted;
  };
  add(free.cpu_milli - request.cpu_milli, whole_node.cpu_milli);
  add(free.memory_mib - request.memory_mib, whole_node.memory_mib);
  add(free.free_milli() - std::int64_t{request.gpus} * request.milli,
      std::int64_t{whole_node.gpus} * whole);
  return counted == 0 ? 0 : sum / counted;
}

}  // namespace foretrace::scheduling
