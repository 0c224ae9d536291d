// A job as the scenario file that says it: what a search found, to be simulated, swept or changed.
#pragma once

#include <string>
#include <string_view>

#include "models/jobs/program/job.h"

namespace foretrace {

/// Names as scenarios have them.
struct ScenarioNames {
  std::string model;
  std::string cluster;
  std::string framework;
};

/// In the order in which people write scenarios. What it is read to is this job, member by member;
/// `what_ifs` as Scenario has them.
[[nodiscard]] std::string scenario_text(Job job, const ScenarioNames& names,
                                        std::string_view what_ifs = {});

}  // namespace foretrace
