#include "apps/driver/scheduler/model/throughput.h"

#include <algorithm>
#include <functional>
#include <limits>

namespace foretrace::scheduling {

void ThroughputTable::set(TypeId type, const Where& where, double steps_per_s) {
  const Key key{type, where.kind, where.gpus};
  if (where.placement.empty()) {
    rates_[key] = steps_per_s;
  } else {
    placed_[{key, where.placement}] = steps_per_s;
    auto& entry = by_nodes_[key][where.placement.size()];
    entry.first += steps_per_s;
    ++entry.second;
  }
}

void ThroughputTable::set_together(TypeId first, TypeId second, const Where& where,
                                   std::pair<double, double> steps_per_s) {
  pairs_[{first, second, where.kind, where.gpus}] = steps_per_s;
  pairs_[{second, first, where.kind, where.gpus}] = {steps_per_s.second, steps_per_s.first};
}

std::optional<double> ThroughputTable::nearest(const Key& key, std::size_t nodes) const {
  const auto found = by_nodes_.find(key);
  if (found == by_nodes_.end()) return std::nullopt;
  std::size_t best_distance = std::numeric_limits<std::size_t>::max();
  double best = 0;
  for (const auto& [number, entry] : found->second) {
    const std::size_t distance = number > nodes ? number - nodes : nodes - number;
    if (distance >= best_distance) continue;
    best_distance = distance;
    best = entry.first / entry.second;
  }
  return best;
}

double ThroughputTable::rate(TypeId type, const Where& where) const {
  const Key key{type, where.kind, where.gpus};
  if (!where.placement.empty()) {
    const auto placed = placed_.find({key, where.placement});
    if (placed != placed_.end()) return placed->second;
    if (const auto near = nearest(key, where.placement.size()); near) return *near;
  }
  const auto found = rates_.find(key);
  if (found != rates_.end()) return found->second;
  // Without a placement: the best that was measured.
  if (const auto near = nearest(key, 0); near && where.placement.empty()) return *near;
  if (std::find(clocks_.begin(), clocks_.end(), type) != clocks_.end()) return 1;
  return 0;
}

std::optional<std::pair<double, double>> ThroughputTable::together(TypeId first, TypeId second,
                                                                   const Where& where) const {
  const auto found = pairs_.find({first, second, where.kind, where.gpus});
  if (found == pairs_.end()) return std::nullopt;
  return found->second;
}

std::string placement_name(std::vector<std::int32_t> per_node) {
  constexpr std::int32_t digits = 10;
  std::sort(per_node.begin(), per_node.end(), std::greater<>());
  std::string name;
  for (const std::int32_t gpus : per_node) {
    if (gpus > 0) name += static_cast<char>(gpus < digits ? '0' + gpus : 'a' + (gpus - digits));
  }
  return name;
}

}  // namespace foretrace::scheduling
