// Tasks and embedding tables on devices.
#include <algorithm>

#include <fmt/format.h>

#include "apps/extras/mapping/mapping_page.h"
#include "apps/report/text.h"
#include "sim/core/whole.h"

namespace foretrace::report::sections {
namespace {

Value nanoseconds(double ns) { return Value::time(to_whole(ns)); }

}  // namespace

Sections mapped_tasks(const MappedAnswer& answer) {
  Section section{.key = "mapping"};
  section.datum("path", Value::words(answer.mapping.path));
  if (!answer.answer.best) return {std::move(section)};
  const mapping::TaskTimes& best = *answer.answer.best;
  const mapping::TaskTimes& heft = *answer.answer.heft;
  section.headline = fmt::format(
      "{} on {}: {}, {:.2f} times the longest chain; HEFT {}",
      plural(answer.mapping.tasks.size(), "task"), plural(answer.mapping.devices.size(), "device"),
      shown_text(nanoseconds(best.makespan)), best.stretch, shown_text(nanoseconds(heft.makespan)));
  section.datum("makespan_ns", nanoseconds(best.makespan));
  section.datum("heft_makespan_ns", nanoseconds(heft.makespan));
  section.datum("stretch", Value::plain(best.stretch));
  Table table{
      .key = "tasks",
      .name = "tasks",
      .title = "task",
      .columns = {{"task"}, {"device", "device"}, {"start_ns", "starts"}, {"end_ns", "ends"}},
      .longest = 50};
  for (std::size_t i = 0; i < answer.mapping.tasks.size(); ++i) {
    table.add({Value::words(answer.mapping.tasks[i]),
               Value::words(answer.mapping.devices[best.device[i]]), nanoseconds(best.start[i]),
               nanoseconds(best.end[i])});
  }
  section.tables.push_back(std::move(table));
  return {std::move(section)};
}

Sections mapped_tables(const MappedAnswer& answer) {
  if (!answer.answer.plan) return {};
  const mapping::ShardPlan& plan = *answer.answer.plan;
  Section section{.key = "tables"};
  const double whole = answer.answer.whole ? answer.answer.whole->seconds : 0;
  section.headline = fmt::format(
      "{} in {} on {}: {} per batch{}", plural(answer.mapping.tables.size(), "table"),
      plural(plan.parts.size(), "part"), plural(answer.mapping.sharding.devices, "accelerator"),
      shown_text(nanoseconds(plan.seconds * 1e9)),
      whole > 0 ? fmt::format(", whole tables {}", shown_text(nanoseconds(whole * 1e9)))
                : ", whole tables do not fit");
  section.datum("batch_ns", nanoseconds(plan.seconds * 1e9));
  section.datum("whole_batch_ns", whole > 0 ? nanoseconds(whole * 1e9) : Value::none());
  Table table{.key = "parts",
              .name = "parts",
              .title = "part",
              .columns = {{"table"}, {"dim", "numbers"}, {"device", "accelerator"}},
              .longest = 50};
  for (std::size_t i = 0; i < plan.parts.size(); ++i) {
    table.add({Value::words(answer.mapping.tables[plan.of[i]]), Value::plain(plan.parts[i].dim),
               Value::plain(plan.device[i])});
  }
  section.tables.push_back(std::move(table));
  return {std::move(section)};
}

}  // namespace foretrace::report::sections
