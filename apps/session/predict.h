// Simulates a recording as it was and as it would be: replay, what-if, ranking of what-ifs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "apps/session/device_fit.h"
#include "apps/session/doubt.h"
#include "apps/session/range.h"
#include "apps/session/recording/load.h"
#include "apps/session/throughput.h"
#include "models/whatifs/what_if_spec.h"
#include "sim/core/result.h"
#include "sim/graph/change.h"
#include "sim/graph/task_graph.h"
#include "sim/result/steps/steps.h"
#include "sim/result/timeline.h"

namespace foretrace {

class LighterHostOnce;

enum class Engine : std::uint8_t {
  pull,  ///< one pass in order; exact where the order of launches is fixed
  event  ///< event queue; order may follow priority and readiness
};

/// What becomes of a what-if that leaves every time and tensor as it is, such as a factor of 1.
enum class Neutral : std::uint8_t {
  keep,   ///< an answer: the run as it was recorded
  refuse  ///< ErrorCode::no_match: of no use to who looks for a gain
};

struct RunOptions {
  Engine engine = Engine::pull;
  StepChoice step;
  Checks checks = default_checks();  ///< of the graphs that what-ifs make
  Neutral neutral = Neutral::keep;
};

/// A simulated graph and the answer it gives.
struct Run {
  Timeline timeline;
  bool is_pulled = false;  ///< by the pull engine: one pass in order gives these times
  StepTimes steps;
  StepAnswer answer;
};
[[nodiscard]] Result<Run> simulate_run(const TaskGraph& graph, const RunOptions& options = {});

/// A recording beside its simulation.
struct Replay {
  StepTimes measured;
  StepAnswer measured_answer;
  bool is_given =
      false;  ///< its step was given (Recording::unprofiled); `measured` has profiled ones
  Run run;
  double error = 0;  ///< simulated / measured - 1, of the step that answers
  double span_error = 0;
  double worst_step_error = 0;  ///< of all host periods, the one farthest from 0
  double scatter = 0;           ///< of the measured steps, see scatter_of
  Reactions reactions;
  std::vector<Doubt> doubts;  ///< not empty: every answer built on it is doubtful
  /// Of the recording, for the ranges of all that is predicted from it.
  std::shared_ptr<const LighterHostOnce> lighter_host{};
};
[[nodiscard]] Result<Replay> replay(const Recording& recording, const RunOptions& options = {});

/// One what-if of a stack, as it was applied.
struct Applied {
  const WhatIfInfo* info = nullptr;
  std::vector<std::pair<std::string, std::string>> parameters;  ///< defaults included
  std::size_t tasks_changed = 0;
  std::size_t tensors_changed = 0;  ///< in size or lifetime, or new
  std::vector<std::string> notes;
  std::vector<Doubt> doubts;
};

/// What the what-ifs, applied in order, make of a recording.
struct Prediction {
  TaskGraph graph;
  std::vector<TaskId> origin;  ///< see WhatIfStack::origin
  Run run;
  std::int64_t low_ns = 0;  ///< the range of the step: see set_range
  std::int64_t high_ns = 0;
  RangeSide faster;  ///< what the two sides of it are made of
  RangeSide slower;
  std::int64_t profiler_event_ns = 0;  ///< of the host that the low end allows for; 0: none
  /// Step with every edited duration at its low bound and every parameter with a declared range at
  /// its optimistic end; and the opposite.
  std::int64_t declared_low_ns = 0;
  std::int64_t declared_high_ns = 0;
  std::vector<Applied> applied;
  /// How many times the samples of a recorded step a predicted one processes; none: what-ifs leave
  /// samples as they are.
  std::optional<double> samples;
  std::optional<Accelerator> accelerator;  ///< that the changed run is on, where it is known
  std::optional<Throughput> throughput;    ///< this and the next: see add_facts
  std::optional<DeviceFit> fit;
  /// Of the what-ifs, beside those of the replay: not empty, the answer is doubtful.
  [[nodiscard]] std::vector<Doubt> doubts() const;
};
/// What the what-ifs make of the recording, in their own order: that of `stack` does not matter.
/// `baseline` is the replay of the recording, made anew if null. ErrorCode::no_match if a what-if
/// finds nothing to change.
[[nodiscard]] Result<Prediction> predict(const Recording& recording, std::span<const WhatIf> stack,
                                         const RunOptions& options = {},
                                         const Replay* baseline = nullptr);

/// The changed graph at both ends of what the stack declares: every edited duration and every
/// parameter with a range where it makes the run fastest, and slowest.
struct PredictionEnds {
  TaskGraph fast;
  TaskGraph slow;
};
[[nodiscard]] Result<PredictionEnds> predict_ends(const Recording& recording,
                                                  std::span<const WhatIf> stack);

/// Adds what an answer says beside the step: samples per second where the batch changes, and
/// whether the run has room on its device.
void add_facts(const Recording& recording, const Run& baseline, Prediction& prediction);

}  // namespace foretrace
