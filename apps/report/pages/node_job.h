// The page of `node-job`.
#pragma once

#include <string_view>

#include "apps/driver/node_job/node_answer.h"
#include "apps/driver/node_job/node_scenario.h"
#include "apps/report/section.h"

namespace foretrace::report {

/// What `simulate` answers to execution traces of a job's ranks.
struct NodeJobPart {
  const driver::NodeScenario& scenario;
  const driver::NodeAnswer& answer;
  std::string_view timeline{};  ///< where it was written; empty: nowhere
};
/// foretrace.node_job_result/1.
[[nodiscard]] Page node_job_page(const NodeJobPart& part);

}  // namespace foretrace::report
