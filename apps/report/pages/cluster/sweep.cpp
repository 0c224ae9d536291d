// The page of `sweep`: foretrace.sweep_result/2.
#include "apps/report/pages/cluster/sweep.h"

#include <array>

#include "apps/report/builder.h"

namespace foretrace::report {

namespace sections {
Builder<SweepAnswer> swept_points;
}

Page sweep_page(const SweepAnswer& answer) {
  constexpr std::array list = {sections::swept_points};
  return {.schema = "foretrace.sweep_result/2",
          .document_keys = {"sweep"},
          .sections = build<SweepAnswer>(list, {}, answer),
          .main_table = "points"};
}

}  // namespace foretrace::report
