// Runs a sweep on the workers of a Dask scheduler, by the Python package.
#pragma once

#include <string>

#include "apps/sweep/run.h"
#include "sim/core/result.h"

namespace foretrace::app {

struct DaskSweep {
  std::string path;     ///< of the sweep file
  std::string folder;   ///< of the store
  std::string address;  ///< of the scheduler
  bool fresh = false;
  bool shows_progress = false;
};

/// How it ended: what was done, or that Python was ended by a signal or a key.
struct DaskEnd {
  bool was_interrupted = false;
  int code = 0;  ///< of this program, if so
  sweeping::SweepRun run;
};

/// Errors: Python or the package is not there, the scheduler cannot be reached, and those of
/// sweeping::run_sweep().
[[nodiscard]] Result<DaskEnd> run_dask_sweep(const DaskSweep& sweep);

}  // namespace foretrace::app
