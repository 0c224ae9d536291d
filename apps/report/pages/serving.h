// The page of `serving`.
#pragma once

#include "apps/driver/serving/serving.h"
#include "apps/report/section.h"

namespace foretrace::report {

struct ServedAnswer {
  const driver::Serving& serving;
  const driver::ServingAnswer& answer;
};
/// foretrace.serving_result/1.
[[nodiscard]] Page serving_page(const ServedAnswer& answer);

}  // namespace foretrace::report
