// The page of `critical-path`: foretrace.critical-path/1.
#include "apps/report/pages/critical_path.h"

#include <array>

#include "apps/report/builder.h"

namespace foretrace::report {

namespace sections {
Builder<PathAnswer> path_context, path_shares, path_groups, path_pieces;
}

Page critical_path_page(const PathAnswer& answer) {
  using namespace sections;
  constexpr std::array list = {path_context, path_shares, path_groups, path_pieces};
  Page page{
      .schema = "foretrace.critical-path/1",
      .document_keys = {"input", "baseline", "profiler", "step", "rank", "held_by_rank", "begin_ns",
                        "total_ns", "shares", "provenance_ns", "kinds_ns", "latencies_ns", "groups",
                        "host_regions", "layers", "pieces", "honesty"},
      .sections = build<PathAnswer>(list, {}, answer),
      .main_table = "groups"};
  say_doubts(answer.session.replay().doubts, page, &answer.session.recording());
  return page;
}

}  // namespace foretrace::report
