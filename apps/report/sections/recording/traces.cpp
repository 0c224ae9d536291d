// Several traces side by side: one row each.
#include <algorithm>

#include <fmt/format.h>

#include "apps/report/pages/inspect.h"
#include "apps/report/sections/recording/job.h"
#include "apps/report/sections/words.h"
#include "apps/report/text.h"
#include "apps/session/recording/inspect.h"
#include "sim/core/text.h"

namespace foretrace::report::sections {
namespace {

void add_row(Table& table, const Inspection& found) {
  std::vector<Value> cells = {Value::words(found.path).as(std::string(file_name_of(found.path))),
                              Value::known(found.info.rank), Value::count(found.report.events)};
  if (found.graph) {
    const GraphFacts& facts = *found.graph;
    cells.push_back(facts.answer.is_span ? Value::none()
                                         : Value::count(facts.steps.host_ns.size()));
    cells.push_back(Value::time(facts.answer.step_ns));
    cells.push_back(Value::share(share_of(facts.honesty.device_busy_ns, facts.honesty.span_ns)));
    cells.push_back(Value::texts(facts.honesty.flags)
                        .as(facts.honesty.flags.empty() ? " " : join(facts.honesty.flags, ", ")));
  } else {
    cells.insert(cells.end(), {Value::none(), Value::none(), Value::none(),
                               Value::words(found.no_graph.empty() ? " " : found.no_graph)});
  }
  table.add(std::move(cells));
}

}  // namespace

Sections trace_table(const TracesAnswer& answer) {
  Table table{.title = "traces",
              .columns = {{"path"},
                          {"rank", "rank"},
                          {"events", "events"},
                          {"steps", "steps"},
                          {"step_ns", "step"},
                          {"busy", "device busy"},
                          {.key = "flags", .is_prose = true}},
              .longest = 64,
              .brief = 16};
  std::int64_t longest = 0;
  for (const Inspection& found : answer.traces) {
    add_row(table, found);
    if (found.graph) longest = std::max(longest, found.graph->answer.step_ns);
  }
  Section section{.key = "traces", .tables = {std::move(table)}, .scale_ns = longest};
  if (const std::optional<LateRank>& late = answer.question.late) {
    section.headline = late_rank_text(*late);
    section.datum("late_rank", late_rank_value(*late));
  }
  section.notes.push_back(
      {"step: the median, or the whole span if no steps are recorded; --details shows each trace, "
       "--communication treats them as one job",
       "  ", Show::brief});
  return {std::move(section)};
}

}  // namespace foretrace::report::sections
