// Accuracy on real recordings: replays of a folder of traces, and pairs of recordings.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/questions/validate/kernel_errors.h"
#include "apps/session/session.h"
#include "models/hardware/catalogue/catalogue.h"
#include "sim/core/result.h"

namespace foretrace {

/// One trace, replayed with and without what it recorded per operation.
struct ReplayRow {
  std::string trace;  ///< relative to the folder
  std::size_t events = 0;
  std::size_t tasks = 0;
  std::int64_t measured_step_ns = -1;  ///< -1: no steps recorded
  std::int64_t simulated_step_ns = -1;
  std::int64_t measured_span_ns = 0;
  double span_error = 0;           ///< simulated / measured - 1
  double step_error = 0;           ///< of the median step
  double worst_step_error = 0;     ///< the step farthest from 0
  double constant_span_error = 0;  ///< with per-trace constant latencies and gaps only
  double constant_worst_step_error = 0;
  Reactions reactions;
  trace::Honesty honesty;

  [[nodiscard]] bool flagged() const { return !honesty.flags.empty(); }
  [[nodiscard]] double unexplained_share() const;
};

/// Why a file is not in the table.
struct LeftOut {
  std::string trace;
  std::string reason;
};

struct ReplayTable {
  std::vector<ReplayRow> rows;  ///< sorted by name
  std::vector<LeftOut> left_out;
};

/// Replays every readable trace below a folder that has device work and a host side.
[[nodiscard]] Result<ReplayTable> replay_table(const CataloguePtr& catalogue,
                                               const std::string& folder);

/// A recorded run before and after one change, and what was predicted from the first.
struct PairRow {
  std::string id;
  std::string changed_what;
  std::string applied;
  std::string why;
  std::int64_t base_ns = 0;
  std::int64_t predicted_ns = 0;
  std::int64_t low_ns = 0;
  std::int64_t high_ns = 0;
  std::int64_t measured_ns = 0;
  std::int64_t predicted_peak_bytes = 0;  ///< of allocated device memory; 0: not predicted
  std::int64_t measured_peak_bytes = 0;   ///< 0: not measured
  std::string failure;                    ///< not empty: why there is no prediction
  KernelErrors kernels;                   ///< of pairs on two accelerators

  [[nodiscard]] double error() const;
  [[nodiscard]] bool covered() const { return low_ns <= measured_ns && measured_ns <= high_ns; }
  /// Of the range, in natural logarithms: 0.1 is about 10 % to either side.
  [[nodiscard]] double half_width() const;
};

/// How many measured values lie in their ranges, and how wide those are.
struct Coverage {
  std::size_t predicted = 0;
  std::size_t covered = 0;
  double mean_half_width = 0;
};
[[nodiscard]] Coverage coverage_of(const std::vector<PairRow>& pairs);

/// Predicts every pair of the folder's own pairs.json, else those of configs/validation/pairs.json
/// whose files are below the folder. A pair has a second recording, or what was measured without a
/// profiler: {"base_step_ms": 217.4, "step_ms": 101.9, "peak_bytes": 22899678208}; the step of the
/// recorded base is then taken to change by the same factor. "unprofiled": true takes the
/// profiler's work out of the base first (unprofiled_step.h).
[[nodiscard]] Result<std::vector<PairRow>> pair_table(const CataloguePtr& catalogue,
                                                      const std::string& folder);

}  // namespace foretrace
