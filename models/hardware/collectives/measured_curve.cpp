#include "models/hardware/collectives/measured_curve.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace foretrace {
namespace {

const MeasuredCurve* find_curve(const Cluster& cluster, const CollectiveCall& call) {
  const auto found =
      std::find_if(cluster.curves.begin(), cluster.curves.end(), [&](const MeasuredCurve& curve) {
        return curve.kind == call.kind && curve.ranks == call.group.ranks &&
               curve.nodes == call.group.nodes;
      });
  return found == cluster.curves.end() ? nullptr : &*found;
}

/// A larger buffer never takes less: where measured times fall, what fell has one mean (of the
/// logarithms), as the nearest rising curve has it.
std::vector<double> rising(std::vector<double> ns) {
  struct Level {
    double log_sum = 0;
    std::size_t points = 0;
    [[nodiscard]] double mean() const { return log_sum / static_cast<double>(points); }
  };
  std::vector<Level> levels;
  for (const double time : ns) {
    levels.push_back({std::log(time), 1});
    while (levels.size() > 1 && levels[levels.size() - 2].mean() > levels.back().mean()) {
      const Level last = levels.back();
      levels.pop_back();
      levels.back().log_sum += last.log_sum;
      levels.back().points += last.points;
    }
  }
  auto at = ns.begin();
  for (const Level& level : levels) {
    if (level.points > 1) std::fill_n(at, level.points, std::exp(level.mean()));
    at += static_cast<std::ptrdiff_t>(level.points);
  }
  return ns;
}

double between_points(const std::vector<double>& sizes, const std::vector<double>& ns,
                      double bytes) {
  if (!(bytes > sizes.front())) return ns.front();
  if (bytes >= sizes.back()) return ns.back() * bytes / sizes.back();
  const auto above = std::upper_bound(sizes.begin(), sizes.end(), bytes);
  const auto i = static_cast<std::size_t>(above - sizes.begin());
  const double share = std::log(bytes / sizes[i - 1]) / std::log(sizes[i] / sizes[i - 1]);
  return ns[i - 1] * std::pow(ns[i] / ns[i - 1], share);
}

}  // namespace

bool shares_network(const Cluster& cluster, const CollectiveCall& call) {
  if (call.group.nodes <= 1) return false;
  const Placement alone = place_alone(cluster, call.group.nodes, call.group.per_node);
  return call.group.nics < 0.999 * alone.nics;
}

double curve_ns(const MeasuredCurve& curve, double bytes) {
  if (std::is_sorted(curve.ns.begin(), curve.ns.end())) {
    return between_points(curve.bytes, curve.ns, bytes);
  }
  return between_points(curve.bytes, rising(curve.ns), bytes);
}

double first_measured(const Cluster& cluster, const CollectiveCall& call) {
  const MeasuredCurve* curve = find_curve(cluster, call);
  return curve == nullptr ? 0 : curve->bytes.front();
}

double last_measured(const Cluster& cluster, const CollectiveCall& call) {
  const MeasuredCurve* curve = find_curve(cluster, call);
  return curve == nullptr ? 0 : curve->bytes.back();
}

double time_on_links(const Cluster& cluster, const CollectiveCall& call) {
  if (call.group.nodes > 1 || !(cluster.link_bandwidth > 0)) return 0;
  const double n = call.group.ranks;
  const bool adds_up =
      call.kind == CollectiveKind::all_reduce && cluster.links == NodeLinks::nvswitch &&
      (cluster.generation == Generation::hopper || cluster.generation == Generation::blackwell);
  const double sent = adds_up ? call.bytes * (n + 1) / n : sent_bytes(call);
  return sent / cluster.link_bandwidth * 1e9;
}

std::optional<CollectiveTime> measured_time(const Cluster& cluster, const CollectiveCall& call) {
  if (cluster.curves.empty() || shares_network(cluster, call)) return std::nullopt;
  const MeasuredCurve* curve = find_curve(cluster, call);
  if (curve == nullptr) return std::nullopt;
  const double ns = std::max(curve_ns(*curve, call.bytes), time_on_links(cluster, call));
  return CollectiveTime{ns, Provenance::table, "measured curve", true};
}

}  // namespace foretrace
