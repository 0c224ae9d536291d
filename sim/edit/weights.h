// Primitives that change times only: scale, set, and their bounds.
#pragma once

#include <cstdint>
#include <span>

#include "sim/core/result.h"
#include "sim/graph/change.h"
#include "sim/graph/task_graph.h"

namespace foretrace::transform {

/// What a new duration rests on.
struct Trust {
  Provenance provenance = Provenance::scaled;
  float low = 1.0F;  ///< bounds as a factor of the duration
  float high = 1.0F;
};

/// Which part of a task's time a factor acts on.
enum class ScaleOf : std::uint8_t {
  duration,  ///< the task itself
  segment,   ///< the host time (device: the gap) before it
  duration_and_segment
};

///   before   s: --a(10)--b(20)--        after scale({b}, 0.5)   s: --a(10)--b(10)--
///
/// Durations round to the nearest ns. Errors: a factor that is negative or not a number, or that
/// makes a duration longer than 100 years.
[[nodiscard]] Status scale(Change& change, const TaskGraph& graph, std::span<const TaskId> tasks,
                           double factor, ScaleOf of = ScaleOf::duration, const Trust& trust = {});

///   before   s: --a(10)--b(20)--        after set_duration({b}, 7)   s: --a(10)--b(7)--
void set_duration(Change& change, std::span<const TaskId> tasks, std::int64_t duration_ns,
                  const Trust& trust = {Provenance::assumed, 1.0F, 1.0F});

///   before   h: a(10) 5 b(3)        after set_segment({b}, 1)   h: a(10) 1 b(3)
void set_segment(Change& change, std::span<const TaskId> tasks, std::int64_t segment_ns,
                 Provenance provenance = Provenance::assumed);

///   before   h: a --launch 4--> s: k        after set_lag({k}, launch, 1)   h: a --launch 1--> s:
///   k
void set_lag(Change& change, std::span<const TaskId> tasks, DependencyKind kind,
             std::int64_t lag_ns);

}  // namespace foretrace::transform
