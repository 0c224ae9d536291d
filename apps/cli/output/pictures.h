// Pictures that commands draw of simulated runs, without a browser.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "apps/cli/arguments/arguments.h"
#include "apps/session/analysis.h"
#include "apps/session/predict.h"
#include "sim/core/result.h"
#include "sim/graph/task_graph.h"

namespace foretrace::app {

struct PictureOptions {
  std::string timeline;  ///< --svg
  std::string memory;    ///< --memory-svg
};

/// --svg FILE and --memory-svg FILE.
void add_pictures(Arguments& app, PictureOptions& options);

/// A simulated run, and what it is called.
struct PicturedRun {
  std::string label;  ///< "as recorded"
  const TaskGraph& graph;
  const Run& run;
  const Analysis& analysis;
};

/// Draws what was asked for, the runs on one clock. Errors: a file that cannot be written; memory
/// of runs without tensors.
[[nodiscard]] Status draw_pictures(const PictureOptions& options, std::string_view title,
                                   std::span<const PicturedRun> runs);

}  // namespace foretrace::app
