#include "models/hardware/collectives/carried_curve.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "models/hardware/collectives/measured_curve.h"

namespace foretrace {
namespace {

/// The curves over fewest and most nodes, of groups that have as many ranks of each node.
struct CurvePair {
  const MeasuredCurve* few = nullptr;
  const MeasuredCurve* many = nullptr;
};

CurvePair curves_below(const Cluster& cluster, const CollectiveCall& call) {
  CurvePair pair;
  for (const MeasuredCurve& curve : cluster.curves) {
    if (curve.kind != call.kind || curve.nodes <= 1 || curve.nodes >= call.group.nodes) continue;
    if (curve.ranks != curve.nodes * call.group.per_node) continue;
    if (pair.few == nullptr || curve.nodes < pair.few->nodes) pair.few = &curve;
    if (pair.many == nullptr || curve.nodes > pair.many->nodes) pair.many = &curve;
  }
  return pair;
}

/// A message of a rank is the buffer divided by the ranks: at the same message, one step more.
double by_steps(const CurvePair& pair, const CollectiveCall& call) {
  const double message = call.bytes / call.group.ranks;
  const double few = curve_ns(*pair.few, message * pair.few->ranks);
  const double many = curve_ns(*pair.many, message * pair.many->ranks);
  const double step = std::max(0.0, many - few) / (pair.many->nodes - pair.few->nodes);
  return many + step * (call.group.nodes - pair.many->nodes);
}

double levels(std::uint32_t nodes) { return std::floor(std::log2(nodes)); }

/// At the same buffer, one level more. A level passes chunks: it costs no more for a small buffer
/// than for a larger one, which keeps out sizes at which the library chose badly.
double by_levels(const CurvePair& pair, const CollectiveCall& call) {
  const double apart = levels(pair.many->nodes) - levels(pair.few->nodes);
  const auto level_ns = [&](double bytes) {
    return std::max(0.0, curve_ns(*pair.many, bytes) - curve_ns(*pair.few, bytes)) / apart;
  };
  double level = level_ns(call.bytes);
  for (const double bytes : pair.many->bytes) {
    if (bytes > call.bytes) level = std::min(level, level_ns(bytes));
  }
  return curve_ns(*pair.few, call.bytes) +
         level * (levels(call.group.nodes) - levels(pair.few->nodes));
}

double carried_ns(const CurvePair& pair, const CollectiveCall& call) {
  const double ns = by_steps(pair, call);
  const bool has_levels =
      call.kind == CollectiveKind::all_reduce && levels(pair.many->nodes) > levels(pair.few->nodes);
  return has_levels ? std::min(ns, by_levels(pair, call)) : ns;
}

/// A buffer costs no more than a larger one: at sizes at which the library chose badly, or that
/// were measured first, what is carried would grow with every node.
double least_from(const CurvePair& pair, CollectiveCall call) {
  const double asked = call.bytes;
  double least = carried_ns(pair, call);
  for (const MeasuredCurve* curve : {pair.few, pair.many}) {
    for (const double bytes : curve->bytes) {
      for (const std::uint32_t ranks : {curve->ranks, call.group.ranks}) {
        call.bytes = bytes / curve->ranks * ranks;
        if (call.bytes > asked) least = std::min(least, carried_ns(pair, call));
      }
    }
  }
  return least;
}

}  // namespace

std::optional<CollectiveTime> carried_time(const Cluster& cluster, const CollectiveCall& call) {
  const bool is_carried =
      call.kind == CollectiveKind::all_reduce || call.kind == CollectiveKind::all_gather ||
      call.kind == CollectiveKind::reduce_scatter || call.kind == CollectiveKind::all_to_all;
  if (!is_carried || shares_network(cluster, call)) return std::nullopt;
  if (call.group.ranks != call.group.nodes * call.group.per_node) return std::nullopt;
  const CurvePair pair = curves_below(cluster, call);
  if (pair.few == nullptr || pair.few == pair.many) return std::nullopt;
  return CollectiveTime{least_from(pair, call), Provenance::table,
                        "curves of fewer nodes, carried"};
}

}  // namespace foretrace
