// The page of `simulate` of execution traces of ranks: foretrace.node_job_result/1.
#include "apps/report/pages/cluster/node_job.h"

#include <array>

#include "apps/report/builder.h"

namespace foretrace::report {

namespace sections {
Builder<NodeJobPart> node_job_step, node_job_exchanges;
}

Page node_job_page(const NodeJobPart& part) {
  constexpr std::array list = {sections::node_job_step, sections::node_job_exchanges};
  return {
      .schema = "foretrace.node_job_result/1",
      .document_keys = {"path", "ranks", "nodes", "cluster", "step_ns", "breakdown", "exchanges"},
      .sections = build<NodeJobPart>(list, {}, part),
      .main_table = "exchanges"};
}

}  // namespace foretrace::report
