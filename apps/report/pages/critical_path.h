// The page of `critical-path`.
#pragma once

#include "apps/report/section.h"
#include "apps/session/session.h"

namespace foretrace::report {

struct PathAnswer {
  const Session& session;
  const PathReport& report;
};
/// foretrace.critical-path/1.
[[nodiscard]] Page critical_path_page(const PathAnswer& answer);

}  // namespace foretrace::report
