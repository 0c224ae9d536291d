// How long a rank that a test writes down takes, and how that reacts to faster hosts and devices.
#pragma once

#include <cmath>

#include <doctest/doctest.h>

#include "sim/engine/pull/pull.h"
#include "sim/engine/reactions.h"
#include "trace/assemble/build_graph.h"

namespace foretrace::trace {

/// In us.
struct Spans {
  double replay = 0;
  double device_x0 = 0;
  double device_x2 = 0;
  double host_x0 = 0;
};

inline double span_us(const TaskGraph& graph, const Weights& weights) {
  Timeline timeline;
  simulate(graph.topology(), weights, timeline);
  return static_cast<double>(timeline.span_ns) / 1000.0;
}

/// The replay of a recorded rank and its reactions, with these rules left out.
inline Spans spans(const EventTable& table, const LeftOutRules& without = {}) {
  BuildOptions options;
  options.without_rules = without;
  const Result<BuiltGraph> built = build_graph(table, options);
  REQUIRE_MESSAGE(built.ok(), built.error().message);
  const TaskGraph& graph = built->graph;
  return {.replay = span_us(graph, graph.weights()),
          .device_x0 = span_us(graph, scale_device(graph, 0.0)),
          .device_x2 = span_us(graph, scale_device(graph, 2.0)),
          .host_x0 = span_us(graph, host_x0(graph))};
}

inline double change(double with, double without) { return std::abs(without / with - 1.0); }

/// Leaving out this rule alone moves the reaction by more than 10 %.
inline void check_reacts(const EventTable& table, const char* rule, double Spans::*reaction) {
  const Spans with = spans(table);
  const Spans without = spans(table, {rule});
  CAPTURE(with.*reaction);
  CAPTURE(without.*reaction);
  CHECK(change(with.*reaction, without.*reaction) > 0.10);
}

}  // namespace foretrace::trace
