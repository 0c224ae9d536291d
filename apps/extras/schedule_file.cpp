// foretrace.schedule/1: jobs on a cluster.
#include "apps/extras/file_kinds.h"
#include "apps/report/pages/cluster/schedule.h"
#include "apps/scheduling/schedule.h"

namespace foretrace::schedule_parts {
namespace {

Result<report::Page> page(const Catalogue& /*catalogue*/, const std::string& path) {
  FORETRACE_TRY(const auto schedule, scheduling::read_schedule(path));
  FORETRACE_TRY(const auto runs, scheduling::run_schedule(schedule));
  return report::schedule_page({schedule, runs});
}

}  // namespace

extern constexpr FileKind info = {.schema = scheduling::schedule_schema,
                                  .holds = "jobs on a cluster",
                                  .command = "schedule",
                                  .page = page};

}  // namespace foretrace::schedule_parts
