// The page of `schedule` for streams: foretrace.streams_result/1.
#include <array>

#include "apps/report/pages.h"

namespace foretrace::report {

namespace sections {
Builder<StreamedAnswer> streamed_scores, streamed_loads;
}

Page streams_page(const StreamedAnswer& answer) {
  constexpr std::array list = {sections::streamed_scores, sections::streamed_loads};
  return {.schema = "foretrace.streams_result/1",
          .document_keys = {"path", "scenarios", "loads"},
          .sections = build<StreamedAnswer>(list, {}, answer),
          .main_table = answer.answer.scores.empty() ? "loads" : "scores"};
}

}  // namespace foretrace::report
