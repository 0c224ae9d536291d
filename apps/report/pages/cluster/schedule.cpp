// The page of `schedule`: foretrace.schedule_result/1.
#include "apps/report/pages/cluster/schedule.h"

#include <array>

#include "apps/report/builder.h"

namespace foretrace::report {

namespace sections {
Builder<ScheduleAnswer> scheduled_input, scheduled_runs;
}

Page schedule_page(const ScheduleAnswer& answer) {
  constexpr std::array list = {sections::scheduled_input, sections::scheduled_runs};
  return {.schema = "foretrace.schedule_result/1",
          .document_keys = {"input", "runs"},
          .sections = build<ScheduleAnswer>(list, {}, answer),
          .main_table = "policies"};
}

}  // namespace foretrace::report
