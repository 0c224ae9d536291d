// The page of `node-job`.
#pragma once

#include <string_view>

#include "apps/report/section.h"
#include "apps/session/nodes/node_answer.h"
#include "apps/session/scenario/node_scenario.h"

namespace foretrace::report {

/// What `simulate` answers to execution traces of a job's ranks.
struct NodeJobPart {
  const NodeScenario& scenario;
  const NodeAnswer& answer;
  std::string_view timeline{};  ///< where it was written; empty: nowhere
};
/// foretrace.node_job_result/1.
[[nodiscard]] Page node_job_page(const NodeJobPart& part);

}  // namespace foretrace::report
