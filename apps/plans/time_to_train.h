// Time to train: steps until a quality is reached, what each takes, evaluations and the start.
// How many samples a batch size needs is learned by training, not simulated: the user's file says
// it (Mattson et al., MLPerf Training Benchmark, MLSys 2020).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "apps/predictor/predictor.h"
#include "models/jobs/scenario/scenario.h"
#include "sim/core/result.h"

namespace foretrace {

inline constexpr std::string_view training_schema = "foretrace.training/1";

/// A count with what it may be.
struct RangedAmount {
  double typical = 0;
  double low = 0;
  double high = 0;
};

/// Samples until the quality is reached, at a global batch.
struct TargetAtBatch {
  double batch = 1;
  RangedAmount samples;
};

/// A recording whose step is the run's.
struct RecordedRun {
  Predictor predictor;
  JobPlacement placement;
  double batch = 1;  ///< samples of a recorded step, of all its ranks
};

struct TrainingRun {
  std::string path;
  std::string of;  ///< the file of the scenario or of the recording
  std::variant<Scenario, RecordedRun> run;
  std::vector<double> batches;          ///< to compare; empty: that of the run
  double samples_per_epoch = 0;         ///< 0: not said
  std::vector<TargetAtBatch> target;    ///< by rising batch
  double evaluation_every_samples = 0;  ///< 0: no evaluations
  double evaluation_samples = 0;        ///< of one evaluation; 0: its time is given
  double evaluation_ns = 0;
  double start_ns = 0;  ///< until the first step
};

struct TrainingTime {
  double batch = 1;
  bool is_between = false;  ///< samples are between those of two batches of the file
  RangedAmount samples;
  RangedAmount steps;
  RangedAmount step_ns;
  RangedAmount evaluations;
  RangedAmount evaluation_ns;  ///< of one
  RangedAmount total_ns;
  bool fits = true;  ///< a step in the memory of a device, as far as that is known
};

[[nodiscard]] bool is_training_file(const std::string& path);
/// Errors read "<file>: /pointer: what, got X, expected Y".
[[nodiscard]] Result<TrainingRun> read_training(const CataloguePtr& catalogue,
                                                const std::string& path);
/// `where` stands for the file: names in the text are relative to its folder.
[[nodiscard]] Result<TrainingRun> parse_training(const CataloguePtr& catalogue,
                                                 std::string_view text, const std::string& where);

/// Linear in the logarithm of the batch between two of the file. Error: a batch beyond them.
[[nodiscard]] Result<TargetAtBatch> target_at(const TrainingRun& run, double batch);
/// start + steps x step + evaluations x evaluation, each at its ends for low and high. Memory is
/// the caller's matter.
[[nodiscard]] TrainingTime composed(const TrainingRun& run, const TargetAtBatch& target,
                                    const RangedAmount& step_ns, const RangedAmount& evaluation_ns);
/// One for each batch, in their order. Errors: a batch that the job does not allow, or that the
/// file says nothing about.
[[nodiscard]] Result<std::vector<TrainingTime>> training_times(const TrainingRun& run);

}  // namespace foretrace
