// The page of `compare`: foretrace.compare/1.
#include "apps/report/pages/compare.h"

#include <array>

#include "apps/report/builder.h"

namespace foretrace::report {

namespace sections {
Builder<CompareAnswer> compared_gates, compared_runs, compared_uses, compared_reasons,
    compared_memory, compared_details;
}

Page compare_page(const CompareAnswer& answer) {
  using namespace sections;
  constexpr std::array list = {compared_gates,   compared_runs,   compared_uses,
                               compared_reasons, compared_memory, compared_details};
  Page page{
      .schema = "foretrace.compare/1",
      .document_keys = {"before", "after", "before_ns", "after_ns", "change_ns", "scatter", "uses",
                        "reasons", "phases", "layers", "operators", "kernels", "memory", "gates"},
      .sections = build<CompareAnswer>(list, {}, answer),
      .main_table = "reasons"};
  say_doubts(answer.doubts, page);
  return page;
}

}  // namespace foretrace::report
