// The page of `mapping`.
#pragma once

#include "apps/extras/mapping/mapping.h"
#include "apps/report/section.h"

namespace foretrace::report {

struct MappedAnswer {
  const Mapping& mapping;
  const MappingAnswer& answer;
};
/// foretrace.mapping_result/1.
[[nodiscard]] Page mapping_page(const MappedAnswer& answer);

}  // namespace foretrace::report
