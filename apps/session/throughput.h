// Samples per second: what a step time does not say where the batch changes.
#pragma once

#include <cstdint>
#include <optional>

#include "apps/session/prediction.h"
#include "apps/session/recording/recording.h"

namespace foretrace {

/// What a change does to work per time, after / before: above 1 is faster. `samples` is the work of
/// a step, after / before. This is what every `speedup` says, and speedup x time ratio = samples.
[[nodiscard]] double speedup_of(std::int64_t before_ns, std::int64_t after_ns, double samples);
/// What it does to the time of a step, after / before, whatever a step then does.
[[nodiscard]] double time_ratio_of(std::int64_t before_ns, std::int64_t after_ns);

/// Samples per pass and device, from the shapes of the recorded forward pass; 0: they do not tell.
[[nodiscard]] std::int64_t recorded_batch(const Recording& recording);

struct Throughput {
  double samples = 1;  ///< of a predicted step / of a recorded one
  double ratio = 1;    ///< samples per second, predicted / now: see speedup_of
  /// Samples per second of the device; none where the batch is not known, or of a job.
  std::optional<double> now;
  std::optional<double> predicted;
};
/// Nothing where the what-ifs leave samples as they are. `batch`: see recorded_batch(); 0 of a job.
[[nodiscard]] std::optional<Throughput> throughput_of(std::int64_t batch, const Run& baseline,
                                                      const ChangedRun& changed);

}  // namespace foretrace
