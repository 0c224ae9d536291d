#include "models/hardware/collectives/measured_curve.h"

#include <algorithm>
#include <cmath>

namespace foretrace {
namespace {

const MeasuredCurve* find_curve(const Cluster& cluster, const CollectiveCall& call,
                                CollectiveKind kind) {
  const auto found =
      std::find_if(cluster.curves.begin(), cluster.curves.end(), [&](const MeasuredCurve& curve) {
        return curve.kind == kind && curve.ranks == call.group.ranks &&
               curve.nodes == call.group.nodes;
      });
  return found == cluster.curves.end() ? nullptr : &*found;
}

// A curve of a group that has the network to itself says nothing about groups that share it.
bool shares_network(const Cluster& cluster, const CollectiveCall& call) {
  if (call.group.nodes <= 1) return false;
  const Placement alone = place_alone(cluster, call.group.nodes, call.group.per_node);
  return call.group.nics < 0.999 * alone.nics;
}

// An all-reduce inside a node is a scatter and a gather of the same bytes.
bool is_half(const CollectiveCall& call) {
  return call.group.nodes <= 1 &&
         (call.kind == CollectiveKind::all_gather || call.kind == CollectiveKind::reduce_scatter);
}

}  // namespace

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
  const MeasuredCurve* curve = find_curve(cluster, call, call.kind);
  if (curve == nullptr && is_half(call))
    curve = find_curve(cluster, call, CollectiveKind::all_reduce);
  return curve == nullptr ? 0 : curve->bytes.front();
}

std::optional<CollectiveTime> measured_time(const Cluster& cluster, const CollectiveCall& call) {
  if (cluster.curves.empty() || shares_network(cluster, call)) return std::nullopt;
  if (const MeasuredCurve* curve = find_curve(cluster, call, call.kind)) {
    return CollectiveTime{curve_ns(*curve, call.bytes), Provenance::table, "measured curve"};
  }
  const bool half =
      call.kind == CollectiveKind::all_gather || call.kind == CollectiveKind::reduce_scatter;
  if (!half || call.group.nodes > 1) return std::nullopt;
  const MeasuredCurve* curve = find_curve(cluster, call, CollectiveKind::all_reduce);
  if (curve == nullptr) return std::nullopt;
  return CollectiveTime{curve_ns(*curve, call.bytes) / 2, Provenance::table,
                        "half of a measured all-reduce"};
}

}  // namespace foretrace
