// Pictures that commands draw of simulated runs, without a browser.
#pragma once

#include <string>

#include "apps/cli/arguments/arguments.h"
#include "apps/session/session.h"
#include "sim/core/result.h"

namespace foretrace::app {

struct PictureOptions {
  std::string timeline;  ///< --svg
  std::string memory;    ///< --memory-svg
  std::string measured;  ///< --measured-step
};

/// --svg FILE, --memory-svg FILE and --measured-step TIME.
void add_pictures(Arguments& app, PictureOptions& options);

/// Draws what was asked for: the run as it was recorded, and on the same clock with what-ifs where
/// `answer` is not null. Errors: a file that cannot be written; memory of runs without tensors.
[[nodiscard]] Status draw_pictures(const PictureOptions& options, const Session& session,
                                   const Answer* answer = nullptr);

}  // namespace foretrace::app
