// The page of `schedule` for streams: foretrace.streams_result/1.
#include "apps/extras/frames/streams_page.h"

#include <array>

#include "apps/report/builder.h"

namespace foretrace::report {

namespace sections {
Builder<StreamedAnswer> streamed_scores, streamed_loads, streamed_control, streamed_buffers;
}

namespace {

const char* main_table(const StreamsAnswer& answer) {
  if (!answer.scores.empty()) return "scores";
  if (!answer.loads.empty() || (answer.control.empty() && answer.buffers.empty())) return "loads";
  return answer.control.empty() ? "buffers" : "control";
}

}  // namespace

Page streams_page(const StreamedAnswer& answer) {
  constexpr std::array list = {sections::streamed_scores, sections::streamed_loads,
                               sections::streamed_control, sections::streamed_buffers};
  return {.schema = "foretrace.streams_result/1",
          .document_keys = {"path", "scenarios", "loads"},
          .sections = build<StreamedAnswer>(list, {}, answer),
          .main_table = main_table(answer.answer)};
}

}  // namespace foretrace::report
