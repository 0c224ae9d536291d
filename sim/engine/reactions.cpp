#include "sim/engine/reactions.h"

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/core/whole.h"

namespace foretrace {
namespace {

std::int64_t times(std::int64_t value, double factor) {
  return to_whole(static_cast<double>(value) * factor);
}

/// Durations of tasks for which `chosen` holds, and their segments if `segments`.
template <typename Chosen>
Weights scale_tasks(const TaskGraph& graph, double factor, bool segments, Chosen chosen) {
  Weights weights = graph.weights();
  auto durations = std::make_shared<std::vector<std::int64_t>>(*weights.duration_ns);
  auto before = std::make_shared<std::vector<std::int64_t>>(*weights.segment_ns);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (chosen(make_id<TaskId>(i))) {
      (*durations)[i] = times((*durations)[i], factor);
      if (segments) {
        (*before)[i] = times((*before)[i], factor);
      }
    }
  }
  weights.duration_ns = std::move(durations);
  weights.segment_ns = std::move(before);
  return weights;
}

/// Lags of dependencies for which `chosen` holds.
template <typename Chosen>
void scale_lags(const TaskGraph& graph, double factor, Chosen chosen, Weights& weights) {
  auto lags = std::make_shared<std::vector<std::array<std::int32_t, 2>>>(*weights.lag_ns);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    for (const std::size_t slot : {std::size_t{0}, std::size_t{1}}) {
      if (chosen(kind_of(graph.topology().kinds[i][slot + 1]))) {
        (*lags)[i][slot] = static_cast<std::int32_t>(times((*lags)[i][slot], factor));
      }
    }
  }
  auto overflow = std::make_shared<std::vector<std::int64_t>>(*weights.overflow_lag_ns);
  for (std::size_t i = 0; i < overflow->size(); ++i) {
    if (chosen(graph.topology().overflow[i].kind)) {
      (*overflow)[i] = times((*overflow)[i], factor);
    }
  }
  weights.lag_ns = std::move(lags);
  weights.overflow_lag_ns = std::move(overflow);
}

}  // namespace

Weights scale_device(const TaskGraph& graph, double factor) {
  return scale_tasks(graph, factor, false,
                     [&](TaskId task) { return is_device(graph.kind(task)); });
}

Weights scale_device(const TaskGraph& graph, double factor, NameId name) {
  return scale_tasks(graph, factor, false, [&](TaskId task) {
    return is_device(graph.kind(task)) && graph.work(task).name == name;
  });
}

Weights scale_host(const TaskGraph& graph, double factor) {
  Weights weights =
      scale_tasks(graph, factor, true, [&](TaskId task) { return is_host(graph.kind(task)); });
  scale_lags(
      graph, factor, [](DependencyKind kind) { return kind == DependencyKind::hand_over; },
      weights);
  return weights;
}

}  // namespace foretrace
