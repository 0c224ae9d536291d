// foretrace.streams/1: frames and queries on engines, a control loop, a weight-shared network.
#include <array>

#include "apps/extras/file_kinds.h"
#include "apps/extras/frames/streams_sections.h"
#include "apps/report/builder.h"

namespace foretrace::report::streams_parts {
namespace {

const char* main_table(const StreamsAnswer& answer) {
  if (!answer.scores.empty()) return "scores";
  if (!answer.loads.empty() || (answer.control.empty() && answer.buffers.empty())) return "loads";
  return answer.control.empty() ? "buffers" : "control";
}

Result<Page> page(const Catalogue& catalogue, const std::string& path) {
  FORETRACE_TRY(const auto streams, read_streams(catalogue, path));
  FORETRACE_TRY(const auto answer, run_streams(streams));
  constexpr std::array list = {streamed_scores, streamed_loads, streamed_control, streamed_buffers};
  return Page{.schema = "foretrace.streams_result/1",
              .document_keys = {"path", "scenarios", "loads"},
              .sections = build<StreamedAnswer>(list, {}, {streams, answer}),
              .main_table = main_table(answer)};
}

}  // namespace

extern constexpr FileKind info = {.schema = streams_schema,
                                  .holds = "streams of queries and frames",
                                  .command = "simulate",
                                  .page = page};

}  // namespace foretrace::report::streams_parts
