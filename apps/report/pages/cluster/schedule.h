// The page of `schedule`.
#pragma once

#include <span>

#include "apps/report/section.h"
#include "apps/scheduling/schedule.h"

namespace foretrace::report {

struct ScheduleAnswer {
  const scheduling::Schedule& schedule;
  std::span<const scheduling::ScheduleRun> runs;
};
/// foretrace.schedule_result/1.
[[nodiscard]] Page schedule_page(const ScheduleAnswer& answer);

}  // namespace foretrace::report
