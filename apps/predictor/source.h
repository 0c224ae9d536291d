// What stands behind a predictor: a recorded job, or a scenario.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "apps/predictor/predictor.h"
#include "apps/session/replay/doubt.h"
#include "sim/core/result.h"

namespace foretrace {

/// How much of a device a job uses while its step runs.
struct DeviceUse {
  double busy = 0;  ///< share of the step in which the device works for it
  double room = 1;  ///< share of the device that its kernels fill, while they run
};

class Predictor::Source {
 public:
  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  virtual ~Source() = default;
  [[nodiscard]] virtual Result<StepPrediction> predict(const JobPlacement& placement) const = 0;
  /// The same on half of the device, as MIG divides it. Errors: unsupported, the device has no MIG
  /// or the job was not recorded; no_match, it has no room there.
  [[nodiscard]] virtual Result<StepPrediction> predict_half(
      const JobPlacement& placement) const = 0;
  /// Error: the job was not recorded.
  [[nodiscard]] virtual Result<DeviceUse> use(const JobPlacement& placement) const = 0;
  /// Parameters and states of the optimizer, each once. Error: not known.
  [[nodiscard]] virtual Result<std::int64_t> state_bytes() const = 0;
  /// The product that the job was recorded on, by the name of its file; empty: not known.
  [[nodiscard]] virtual std::string accelerator() const { return {}; }
  /// Why answers may be wrong, of what was recorded.
  [[nodiscard]] virtual std::vector<Doubt> doubts() const { return {}; }
  [[nodiscard]] virtual std::size_t tasks() const = 0;
  [[nodiscard]] virtual std::int64_t step_ns() const = 0;
  /// Of the device at this placement; 0: not known.
  [[nodiscard]] virtual Result<std::int64_t> device_bytes(const JobPlacement& placement) const = 0;
};

[[nodiscard]] Result<std::shared_ptr<const Predictor::Source>> recorded_job(
    std::span<const std::string> paths, const PredictorOptions& options);
[[nodiscard]] Result<std::shared_ptr<const Predictor::Source>> scenario_job(
    const std::string& path, const PredictorOptions& options);

}  // namespace foretrace
