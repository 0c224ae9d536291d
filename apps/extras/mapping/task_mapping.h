// Tasks of a graph on devices of different speed: how long a mapping takes, HEFT as the baseline,
// and a search by single moves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/core/result.h"

namespace foretrace::mapping {

struct TaskEdge {
  std::size_t from = 0;
  std::size_t to = 0;
  double bytes = 0;
};

/// Times in any unit, the same everywhere. Tasks and devices are numbered from 0.
struct TaskProblem {
  std::size_t devices = 0;
  std::vector<std::vector<double>> time;  ///< of a task on a device; below 0: it cannot run there
  std::vector<TaskEdge> edges;
  /// From device to device: before the first byte, and per byte. Nothing inside one device.
  std::vector<std::vector<double>> delay;
  std::vector<std::vector<double>> per_byte;

  [[nodiscard]] std::size_t tasks() const { return time.size(); }
  [[nodiscard]] double transfer(const TaskEdge& edge, std::size_t from, std::size_t to) const {
    return from == to ? 0 : delay[from][to] + edge.bytes * per_byte[from][to];
  }
};
/// Errors: sizes that do not agree, a circle, a task that runs nowhere.
[[nodiscard]] Status check_problem(const TaskProblem& problem);

struct TaskTimes {
  std::vector<std::size_t> device;  ///< of every task
  std::vector<double> start;
  std::vector<double> end;
  double makespan = 0;
  /// Makespan over the longest chain of tasks, each on its fastest device, without transfers.
  double stretch = 0;
};

/// Every device takes what is ready in the order in which it became so; links are shared without
/// cost. The evaluator of GiPH.
[[nodiscard]] TaskTimes evaluate(const TaskProblem& problem,
                                 const std::vector<std::size_t>& device);

/// Heterogeneous earliest finish time: tasks by upward rank, each where it ends first, also in
/// gaps.
[[nodiscard]] TaskTimes heft(const TaskProblem& problem);

struct MoveSearch {
  std::size_t evaluations = 1000;
  std::uint64_t seed = 0;
};
/// Moves of one task to another device, kept where the makespan does not grow; from the mapping of
/// HEFT, and never worse than it under evaluate().
[[nodiscard]] TaskTimes improve(const TaskProblem& problem, const MoveSearch& search);

}  // namespace foretrace::mapping
