// The page of `schedule` for served models: foretrace.serving_result/1.
#include "apps/report/pages/cluster/serving.h"

#include <array>

#include "apps/report/builder.h"

namespace foretrace::report {

namespace sections {
Builder<ServedAnswer> served_input, served_figures;
}

Page serving_page(const ServedAnswer& answer) {
  constexpr std::array list = {sections::served_input, sections::served_figures};
  return {.schema = "foretrace.serving_result/1",
          .document_keys = {"input", "figures"},
          .sections = build<ServedAnswer>(list, {}, answer),
          .main_table = "latencies"};
}

}  // namespace foretrace::report
