// The page of `simulate` of a scenario: foretrace.result/2.
#include "apps/report/pages/cluster/scenario.h"

#include <array>

#include "apps/report/builder.h"

namespace foretrace::report {

namespace sections {
Builder<ScenarioPart> scenario_context, scenario_step, scenario_breakdowns, scenario_memory,
    scenario_machine, scenario_facts;
}

Page scenario_page(const ScenarioPart& part) {
  using namespace sections;
  constexpr std::array list = {scenario_context, scenario_step,    scenario_breakdowns,
                               scenario_memory,  scenario_machine, scenario_facts};
  return {.schema = "foretrace.result/2",
          .document_keys = {"input", "import", "measured", "baseline", "predicted", "scenario",
                            "tasks", "dependencies", "honesty", "warnings"},
          .sections = build<ScenarioPart>(list, {}, part),
          .main_table = "stages"};
}

}  // namespace foretrace::report
