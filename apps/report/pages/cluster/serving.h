// The page of `serving`.
#pragma once

#include "apps/report/section.h"
#include "apps/serving/serving.h"

namespace foretrace::report {

struct ServedAnswer {
  const Serving& serving;
  const ServingAnswer& answer;
};
/// foretrace.serving_result/1.
[[nodiscard]] Page serving_page(const ServedAnswer& answer);

}  // namespace foretrace::report
