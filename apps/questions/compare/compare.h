// Two runs side by side: what they have in common is matched by what it is, and the difference of
// their steps is split into reasons that add up to it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/questions/compare/spending.h"
#include "apps/session/session.h"
#include "sim/core/result.h"
#include "sim/graph/task_graph.h"

namespace foretrace {

/// One of the two runs: a recording with its replay, or an answer.
struct ComparedRun {
  std::string name;
  const TaskGraph& graph;
  const Run& run;
  /// The recorded step, where there is one; else the simulated step stands for the run.
  std::optional<std::int64_t> measured_ns;
  double scatter = 0;       ///< of recorded steps, see scatter_of
  std::int64_t low_ns = 0;  ///< of a prediction: its range
  std::int64_t high_ns = 0;

  /// False of memory over time alone: it has no step.
  [[nodiscard]] bool has_work() const;
};
/// An answer, which lives on.
[[nodiscard]] ComparedRun compared_run(const Answer& answer);
/// A recording beside its replay; the session lives on.
[[nodiscard]] ComparedRun compared_run(const Session& session);
/// The same as it is simulated: what an answer is beside.
[[nodiscard]] ComparedRun simulated_run(const Session& session);

/// What both runs spend on one thing.
struct Compared {
  Use use = Use::idle;
  std::vector<std::string> names;  ///< what it is, from the whole to the part
  std::int64_t before_ns = 0;
  std::int64_t after_ns = 0;
  std::int64_t before_busy_ns = 0;
  std::int64_t after_busy_ns = 0;
  double before_calls = 0;
  double after_calls = 0;
  std::int64_t before_bytes = 0;
  std::int64_t after_bytes = 0;
  Precision before_precision = Precision::unknown;  ///< of most of the busy time
  Precision after_precision = Precision::unknown;
  std::vector<Compared> parts{};

  [[nodiscard]] std::int64_t change_ns() const { return after_ns - before_ns; }
};

/// Bytes of one category of tensors, at the peak of either run.
struct ComparedBytes {
  std::string name;
  std::int64_t before_bytes = 0;
  std::int64_t after_bytes = 0;
};

struct Comparison {
  std::int64_t before_ns = 0;  ///< the step, recorded where it was; 0: neither run has work
  std::int64_t after_ns = 0;
  double scatter = 0;             ///< the larger one: changes below it are noise
  std::vector<Compared> uses;     ///< the parts of a step, in their order; like all lists but the
                                  ///< last two they add up to both steps
  std::vector<Compared> reasons;  ///< by class, largest change first, with their parts
  std::vector<Compared> phases;
  std::vector<Compared> layers;       ///< empty if neither run knows layers
  std::vector<Compared> operators;    ///< of the device: names = {operator}
  std::vector<Compared> kernels;      ///< names = {layer, operator, kernel, shapes}
  std::optional<ComparedBytes> peak;  ///< of the fullest device; none where neither has tensors
  std::vector<ComparedBytes> memory;  ///< at these peaks, largest change first

  [[nodiscard]] std::int64_t change_ns() const { return after_ns - before_ns; }
};

/// Error: one of them has times and the other has none.
[[nodiscard]] Result<Comparison> compare_runs(const ComparedRun& before, const ComparedRun& after);

/// Why the step of an answer is another than that of the simulated recording.
[[nodiscard]] Result<Comparison> reasons_of(const Answer& answer);

}  // namespace foretrace
