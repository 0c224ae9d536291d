// The page of `schedule` for mappings: foretrace.mapping_result/1.
#include "apps/extras/mapping/mapping_page.h"

#include <array>

#include "apps/report/builder.h"

namespace foretrace::report {

namespace sections {
Builder<MappedAnswer> mapped_tasks, mapped_tables;
}

Page mapping_page(const MappedAnswer& answer) {
  constexpr std::array list = {sections::mapped_tasks, sections::mapped_tables};
  return {.schema = "foretrace.mapping_result/1",
          .document_keys = {"path"},
          .sections = build<MappedAnswer>(list, {}, answer),
          .main_table = answer.answer.best ? "tasks" : "parts"};
}

}  // namespace foretrace::report
