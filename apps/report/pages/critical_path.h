// The page of `critical-path`.
#pragma once

#include "apps/driver/analysis.h"
#include "apps/driver/load.h"
#include "apps/driver/predict.h"
#include "apps/report/section.h"

namespace foretrace::report {

struct PathAnswer {
  const driver::Recording& recording;
  const driver::Replay& replay;
  const driver::PathReport& report;
};
/// foretrace.critical-path/1.
[[nodiscard]] Page critical_path_page(const PathAnswer& answer);

}  // namespace foretrace::report
