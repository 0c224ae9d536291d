// A serving engine's file with what its user measured of it: what its host takes between steps, and
// its share of the memory.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/serving/calibration/benchmark_log.h"
#include "models/hardware/catalogue/catalogue.h"
#include "models/hardware/catalogue/operator_fit.h"
#include "sim/core/ranged.h"
#include "sim/core/result.h"

namespace foretrace {

/// What was served, where, by what.
struct EngineSetup {
  std::string engine;  ///< whose steps and memory the measured one has
  std::string model;
  std::string cluster;      ///< or
  std::string accelerator;  ///< one of these
  std::string precision = {};
  double weight_bits = 0;    ///< 0: as the precision says
  std::uint32_t tensor = 0;  ///< of runs that do not say it; 0: one accelerator
};

/// A run, and where it stands.
struct MeasuredService {
  BenchmarkRun run;
  std::string source;  ///< file and date
};

/// How far off predictions of a run were: predicted / measured - 1.
struct ServiceError {
  double before = 0;                ///< with the engine's file as it was
  double fitted = 0;                ///< with the new one
  std::optional<double> held_back;  ///< with a fit to the other runs; none: there is no other
};

struct CalibratedEngine {
  std::string text;  ///< a file of configs/serving
  Ranged step_ns{0, 0, 0};
  Ranged sequence_ns{0, 0, 0};
  bool tells_sequences = false;  ///< runs differ in how many sequences are in a step
  std::optional<double> memory_share;
  std::vector<ServiceError> errors;  ///< one per run
  ErrorSummary before;
  ErrorSummary held_back;  ///< of the runs that have one
};

/// `cache_tokens`: that the engine told; 0: it did not. Error: no run, a run without its requests
/// or tokens, one that the engine cannot serve, a cache that the accelerator has no room for.
[[nodiscard]] Result<CalibratedEngine> calibrate_engine(const Catalogue& catalogue,
                                                        const EngineSetup& setup,
                                                        std::span<const MeasuredService> runs,
                                                        double cache_tokens);

}  // namespace foretrace
