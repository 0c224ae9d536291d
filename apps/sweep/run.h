// Runs a sweep: what is missing in the store is computed, by several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "apps/sweep/points/evaluate.h"
#include "apps/sweep/space/sweep.h"
#include "sim/core/result.h"

namespace foretrace::sweeping {

struct SweepProgress {
  std::uint64_t points = 0;  ///< in all
  std::uint64_t done = 0;    ///< in the store, or not wanted
  double per_second = 0;     ///< of those that this run computes
  double seconds_left = 0;
  std::optional<double> best;  ///< of the first objective, among those that this run computed
};

struct SweepSettings {
  CataloguePtr catalogue{};  ///< null: no accelerator and no cluster is known by name
  std::size_t threads = 0;   ///< 0: as many as the machine has
  bool fresh = false;        ///< forget what is there
  std::string version;       ///< of the program
  std::function<void(const SweepProgress&)> progress{};  ///< by one thread at a time
};

/// What a run did.
struct SweepRun {
  std::uint64_t points = 0;    ///< of the space
  std::uint64_t found = 0;     ///< were there already
  std::uint64_t old_rows = 0;  ///< of a sweep file that has changed since
  std::uint64_t reused = 0;    ///< of those
  std::uint64_t computed = 0;
  std::uint64_t unwanted = 0;         ///< constraints over axes exclude them
  double seconds = 0;                 ///< of computing
  std::vector<std::string> doubts{};  ///< "FILE: why": points of it cannot be relied on
};

/// Results are in `folder` afterwards. Rows are there before they are counted, so a run that is cut
/// off at any moment goes on where it was. Errors: the store cannot be written, or holds results of
/// other inputs.
[[nodiscard]] Result<SweepRun> run_sweep(const Sweep& sweep, const std::string& folder,
                                         const SweepSettings& settings);

}  // namespace foretrace::sweeping
