// A job as the scenario file that says it: what a search found, to be simulated, swept or changed.
#pragma once

#include <string>

#include "models/jobs/program/job.h"

namespace foretrace {

/// Names as scenarios have them.
struct ScenarioNames {
  std::string model;
  std::string cluster;
  std::string framework;
};

/// In the order in which people write scenarios. What it is read to is this job, member by member.
[[nodiscard]] std::string scenario_text(Job job, const ScenarioNames& names);

}  // namespace foretrace
