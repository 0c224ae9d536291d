// What what-ifs make of a recording: the changed run, and how far it may be off.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/session/replay/doubt.h"
#include "apps/session/replay/run.h"
#include "models/hardware/catalogue/accelerator.h"
#include "models/whatifs/what_if.h"
#include "sim/graph/task_graph.h"

namespace foretrace {

/// One what-if of a stack, as it was applied.
struct Applied {
  const WhatIfInfo* info = nullptr;
  std::vector<std::pair<std::string, std::string>> parameters;  ///< defaults included
  std::size_t tasks_changed = 0;
  std::size_t tensors_changed = 0;  ///< in size or lifetime, or new
  std::vector<std::string> notes;
  std::vector<Doubt> doubts;
  bool is_neutral = false;  ///< the run is as it was before
};

/// What the what-ifs, applied in order, make of a recording, simulated.
struct ChangedRun {
  TaskGraph graph;
  std::vector<TaskId> origin;  ///< see WhatIfStack::origin
  Run run;
  std::vector<Applied> applied;
  /// How many times the samples of a recorded step a predicted one processes; none: what-ifs leave
  /// samples as they are.
  std::optional<double> samples;
  std::optional<Accelerator> accelerator;  ///< that the changed run is on, where it is known

  /// Of the what-ifs, beside those of the replay: not empty, the answer is doubtful.
  [[nodiscard]] std::vector<Doubt> doubts() const;
};

/// One side of a range: natural logarithms of (bound / point), all from 0 up. What is independent
/// adds up as squares do.
struct RangeSide {
  double recipe = 0;         ///< edited durations and parameters at their declared ends
  double host = 0;           ///< the host's share of the step x how far hosts differ
  double communication = 0;  ///< the same of collectives and transfers
  double change = 0;         ///< grows with the share of the time that changes
  double scatter = 0;        ///< of the recorded steps
  double model = 0;          ///< of a job that was never run: its step, as the scenario has it
  double device = 0;         ///< figures of a product that is only like the recorded one
  double rest = 0;           ///< what a replay leaves out
  double doubt = 1;          ///< factor of all above where the answer is doubtful
  double profiler = 0;       ///< its work in the host's times; of the faster side alone

  [[nodiscard]] double total() const;
};

/// The changed run with the range of its step.
struct Prediction : ChangedRun {
  std::int64_t low_ns = 0;
  std::int64_t high_ns = 0;
  RangeSide faster{};  ///< what the two sides of it are made of
  RangeSide slower{};
  std::int64_t profiler_event_ns = 0;  ///< of the host that the low end allows for; 0: none
  /// Step with every edited duration at its low bound and every parameter with a declared range at
  /// its optimistic end; and the opposite.
  std::int64_t declared_low_ns = 0;
  std::int64_t declared_high_ns = 0;
};

}  // namespace foretrace
