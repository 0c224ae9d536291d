// The page of `plan --stages auto`: foretrace.stages/2.
#include "apps/report/pages/cluster/stages.h"

#include <array>

#include "apps/report/builder.h"

namespace foretrace::report {

namespace sections {
Builder<StagesPart> stages_context, stages_best, stages_of_best;
}

Page stages_page(const StagesPart& part) {
  using namespace sections;
  constexpr std::array list = {stages_context, stages_of_best, stages_best};
  return {.schema = "foretrace.stages/2",
          .document_keys = {"input", "plans", "even"},
          .sections = build<StagesPart>(list, {}, part),
          .main_table = "plans"};
}

}  // namespace foretrace::report
