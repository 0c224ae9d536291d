// A machine's file with what its user measured of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/hardware/catalogue/catalogue.h"
#include "models/hardware/catalogue/operator_fit.h"
#include "models/hardware/collectives/calibration/collective_log.h"
#include "sim/core/result.h"

namespace foretrace {

/// A run, and where it stands.
struct MeasuredRun {
  CollectiveLog log;
  std::string source;  ///< file and date
};

/// How far off predictions of a run's sizes were.
struct CurveErrors {
  CollectiveKind kind = CollectiveKind::none;
  std::uint32_t ranks = 0;
  std::uint32_t nodes = 0;
  std::size_t set_aside = 0;  ///< sizes that were faster than the links of the machine
  std::size_t damaged = 0;    ///< rows of the log whose size cannot be read
  ErrorSummary before;        ///< of the machine's file
  ErrorSummary held_back;     ///< of every second size by a curve through the others
};

struct CalibratedMachine {
  std::string text;  ///< a file of configs/clusters
  std::vector<CurveErrors> errors;
};

/// The cluster `base` of the catalogue, or of a file, with the runs as curves in place of those it
/// has of the same groups. Error: a run without its collective, ranks or nodes, or with more than
/// the machine has; fewer than three sizes that its links can carry.
[[nodiscard]] Result<CalibratedMachine> calibrate_machine(const Catalogue& catalogue,
                                                          const std::string& base,
                                                          std::span<const MeasuredRun> runs);

}  // namespace foretrace
