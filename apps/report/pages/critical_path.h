// The page of `critical-path`.
#pragma once

#include "apps/report/section.h"
#include "apps/session/analysis.h"
#include "apps/session/predict.h"
#include "apps/session/recording/load.h"

namespace foretrace::report {

struct PathAnswer {
  const Recording& recording;
  const Replay& replay;
  const PathReport& report;
};
/// foretrace.critical-path/1.
[[nodiscard]] Page critical_path_page(const PathAnswer& answer);

}  // namespace foretrace::report
