#include "models/hardware/collectives/measured_curve.h"

#include <algorithm>
#include <cmath>

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

}  // namespace

bool shares_network(const Cluster& cluster, const CollectiveCall& call) {
  if (call.group.nodes <= 1) return false;
  const Placement alone = place_alone(cluster, call.group.nodes, call.group.per_node);
  return call.group.nics < 0.999 * alone.nics;
}

double curve_ns(const MeasuredCurve& curve, double bytes) {
  if (!(bytes > curve.bytes.front())) return curve.ns.front();
  if (bytes >= curve.bytes.back()) return curve.ns.back() * bytes / curve.bytes.back();
  const auto above = std::upper_bound(curve.bytes.begin(), curve.bytes.end(), bytes);
  const auto i = static_cast<std::size_t>(above - curve.bytes.begin());
  const double share =
      std::log(bytes / curve.bytes[i - 1]) / std::log(curve.bytes[i] / curve.bytes[i - 1]);
  return curve.ns[i - 1] * std::pow(curve.ns[i] / curve.ns[i - 1], share);
}

double first_measured(const Cluster& cluster, const CollectiveCall& call) {
  const MeasuredCurve* curve = find_curve(cluster, call);
  return curve == nullptr ? 0 : curve->bytes.front();
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
