// The page of `validation`.
#pragma once

#include <vector>

#include "apps/questions/validate/ablation.h"
#include "apps/questions/validate/formats.h"
#include "apps/questions/validate/validate_jobs.h"
#include "apps/questions/validate/validation.h"
#include "apps/questions/validate/what_if_table.h"
#include "apps/report/section.h"

namespace foretrace::report {

struct ValidationAnswer {
  const ReplayTable& replays;
  const std::vector<PairRow>& pairs;
};
/// foretrace.validation/1.
[[nodiscard]] Page validation_page(const ValidationAnswer& answer);
[[nodiscard]] Page jobs_page(const std::vector<JobRow>& jobs);
[[nodiscard]] Page ablation_page(const std::vector<AblatedRule>& rules);
[[nodiscard]] Page examples_page(const ExampleTable& examples);
/// foretrace.formats/1.
[[nodiscard]] Page formats_page(const std::vector<FormatRow>& rows);

}  // namespace foretrace::report
