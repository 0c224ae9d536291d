// All times of a graph as many times as long: what a run must follow exactly.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "sim/core/whole.h"
#include "sim/graph/task_graph.h"

namespace foretrace::test {

/// Durations, segments and lags of every kind times `factor`.
inline Weights scale_everything(const TaskGraph& graph, double factor) {
  const auto times = [factor](std::int64_t value) {
    return to_whole(static_cast<double>(value) * factor);
  };
  const auto scaled = [&](const std::vector<std::int64_t>& column) {
    auto copy = std::make_shared<std::vector<std::int64_t>>(column);
    for (std::int64_t& value : *copy) value = times(value);
    return copy;
  };
  Weights weights;
  weights.duration_ns = scaled(*graph.weights().duration_ns);
  weights.segment_ns = scaled(*graph.weights().segment_ns);
  weights.overflow_lag_ns = scaled(*graph.weights().overflow_lag_ns);
  auto lags = std::make_shared<std::vector<std::array<std::int32_t, 2>>>(*graph.weights().lag_ns);
  for (auto& slots : *lags) {
    for (std::int32_t& lag : slots) lag = static_cast<std::int32_t>(times(lag));
  }
  weights.lag_ns = std::move(lags);
  return weights;
}

}  // namespace foretrace::test
