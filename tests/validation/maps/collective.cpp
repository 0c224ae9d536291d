#include "tests/validation/maps/collective.h"

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "models/hardware/collectives/collective_costs.h"
#include "sim/core/params.h"
#include "tests/validation/studies/row_numbers.h"

namespace foretrace::validation {
namespace {

std::string size_class(double bytes) {
  constexpr double mib = 1024.0 * 1024;
  return bytes < mib ? "below 1 MiB" : bytes < 64 * mib ? "1 to 64 MiB" : "64 MiB and more";
}

bool is_in_a_curve(const Cluster& cluster, const CollectiveCall& call, double measured_us) {
  return std::any_of(cluster.curves.begin(), cluster.curves.end(), [&](const MeasuredCurve& curve) {
    if (curve.kind != call.kind || curve.ranks != call.group.ranks ||
        curve.nodes != call.group.nodes) {
      return false;
    }
    const auto at = std::find(curve.bytes.begin(), curve.bytes.end(), call.bytes);
    if (at == curve.bytes.end()) return false;
    const double us = curve.ns[static_cast<std::size_t>(at - curve.bytes.begin())] * 1e-3;
    return std::abs(us / measured_us - 1) < 1e-3;
  });
}

Result<CollectiveKind> kind_of(const std::string& name) {
  for (std::size_t i = 1; i < collective_kind_count; ++i) {
    const auto kind = static_cast<CollectiveKind>(i);
    if (to_string(kind) == name) return kind;
  }
  return Error{ErrorCode::not_found, fmt::format("no collective is called {}", in_quotes(name))};
}

/// nodes and ranks of each: at most what a machine can have.
Result<CollectiveCall> call_of(const ConfigValue& object, const Cluster& cluster) {
  constexpr double most_bytes = 1e15;
  constexpr double most_nodes = 1e5;
  constexpr double most_of_node = 1e4;
  const ConfigValue* const name = object.find("kind");
  FORETRACE_TRY(const auto kind, kind_of(name == nullptr ? std::string() : name->text));
  RowNumbers numbers({{}, object});
  const double nodes = numbers.count("nodes", most_nodes);
  const double per_node = numbers.count("per_node", most_of_node);
  const double bytes = numbers.number("bytes", 1, most_bytes);
  const double known_nodes = numbers.count_or("most_nodes", cluster.nodes, most_nodes);
  FORETRACE_TRY(numbers.status());
  if (nodes > known_nodes) {
    return Error{ErrorCode::not_found, fmt::format("got {} nodes, expected at most {}: nothing "
                                                   "says what joins more of this machine",
                                                   nodes, known_nodes)};
  }
  CollectiveCall call;
  call.kind = kind;
  call.bytes = bytes;
  call.group =
      place_alone(cluster, static_cast<std::uint32_t>(nodes), static_cast<std::uint32_t>(per_node));
  return call;
}

struct Timed {
  Figure us;
  MeasuredOf of;
};

Timed timed(const Cluster& cluster, const CollectiveCall& call) {
  const CollectiveRange range = collective_range(cluster, call);
  const auto kind = measured_kind(call.bytes, range.time.is_curve);
  return {{range.time.ns * 1e-3, range.shortest_ns * 1e-3, range.longest_ns * 1e-3},
          {.kind = std::string(to_string(kind)),
           .first = cluster.name,
           .second = std::string(to_string(call.kind)),
           .cell = fmt::format("{} {} {}", call.group.nodes, call.group.ranks, call.bytes),
           .ranks = call.group.ranks}};
}

Cluster without_curves(Cluster cluster, CollectiveKind kind) {
  std::erase_if(cluster.curves, [kind](const MeasuredCurve& curve) { return curve.kind == kind; });
  return cluster;
}

}  // namespace

Result<CollectivePrediction> predict_collective(const ConfigValue& run, double measured_us,
                                                TableInputs& inputs) {
  const ConfigValue* const name = run.find("cluster");
  const ConfigValue* const object = run.find("collective");
  if (name == nullptr || object == nullptr) {
    return Error{ErrorCode::not_found, "no description of this machine"};
  }
  FORETRACE_TRY(const auto cluster, inputs.cluster(name->text));
  FORETRACE_TRY(const auto call, call_of(*object, *cluster));
  const Timed timed_with = timed(*cluster, call);
  const Timed timed_without = timed(without_curves(*cluster, call.kind), call);
  CollectivePrediction made{.us = timed_with.us,
                            .left_out = {timed_without.us, timed_without.of},
                            .law = links_law(*cluster, call),
                            .size = size_class(call.bytes),
                            .is_fitted = is_in_a_curve(*cluster, call, measured_us)};
  // A row says what curves are off by where it is not a point of theirs.
  const bool says_more = timed_with.of.kind != timed_without.of.kind && !made.is_fitted;
  if (says_more) made.of = timed_with.of;
  return made;
}

}  // namespace foretrace::validation
