// The page of `plan TRACE`: foretrace.recorded_plans/2.
#include "apps/report/pages/cluster/recorded_plans.h"

#include <array>

#include "apps/report/builder.h"

namespace foretrace::report {

namespace sections {
Builder<RecordedPlansPart> recorded_plans_context, recorded_plans_best, recorded_plans_larger,
    recorded_plans_refused;
}

Page recorded_plans_page(const RecordedPlansPart& part) {
  using namespace sections;
  constexpr std::array list = {recorded_plans_context, recorded_plans_best, recorded_plans_larger,
                               recorded_plans_refused};
  Page page{.schema = "foretrace.recorded_plans/2",
            .document_keys = {"input", "plans", "larger_batches", "refused"},
            .sections = build<RecordedPlansPart>(list, {}, part),
            .main_table = "plans"};
  say_doubts(part.doubts, page);
  return page;
}

}  // namespace foretrace::report
