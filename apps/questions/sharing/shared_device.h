// Two recorded runs on one device, in each way to share it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apps/predictor/predictor.h"
#include "models/hardware/catalogue/catalogue.h"
#include "sim/core/result.h"

namespace foretrace {

/// "time slices", "MPS", "MIG halves".
[[nodiscard]] std::string_view to_string(Sharing sharing);

struct SharedWay {
  Sharing sharing{};
  Corun runs;
  /// Work that both get done / what one of them alone gets done: the sum of their speeds.
  [[nodiscard]] double together() const { return runs.first_share + runs.second_share; }
};

struct SharedDevice {
  std::array<std::string, 2> paths;
  std::array<StepPrediction, 2> alone;
  std::string accelerator;  ///< the device; empty: not known, so that nothing is said of fitting
  std::vector<SharedWay> ways;                       ///< most work first of those that fit
  std::array<std::vector<std::string>, 2> doubts{};  ///< of the recordings, a sentence each
  std::string without_mig{};                         ///< why no way is by MIG; empty: one is
  bool has_mps = false;  ///< NVIDIA's service that runs kernels of several processes side by side
  [[nodiscard]] bool fits() const { return !ways.empty() && ways.front().runs.fits; }
};

/// What the page and its readers are told of the error: mean over Gavel's measured pairs of
/// training jobs, and rank correlation of their rates. `foretrace-validate` gives both.
inline constexpr double pair_mean_error = 0.44;
inline constexpr double pair_rank_correlation = 0.76;

/// `accelerator`: both move there; empty: they were recorded on one product. Errors: they were not,
/// a recording of several ranks, a scenario.
[[nodiscard]] Result<SharedDevice> shared_device(const std::array<std::string, 2>& paths,
                                                 const std::string& accelerator,
                                                 const PredictorOptions& options);

}  // namespace foretrace
