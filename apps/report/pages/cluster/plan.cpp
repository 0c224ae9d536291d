// The page of `plan`: foretrace.plan/2.
#include "apps/report/pages/cluster/plan.h"

#include <array>

#include "apps/report/builder.h"

namespace foretrace::report {

namespace sections {
Builder<PlansPart> plan_context, plan_best, plan_losing, plan_scaling;
}

Page plans_page(const PlansPart& part) {
  using namespace sections;
  constexpr std::array list = {plan_context, plan_best, plan_losing, plan_scaling};
  return {.schema = "foretrace.plan/2",
          .document_keys = {"input", "plans", "losing", "scaling"},
          .sections = build<PlansPart>(list, {}, part),
          .main_table = "plans"};
}

}  // namespace foretrace::report
