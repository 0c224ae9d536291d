// foretrace.mapping/1: tasks and embedding tables on devices.
#include <utility>

#include <fmt/format.h>

#include "apps/extras/file_kinds.h"
#include "apps/extras/mapping/mapping.h"
#include "apps/report/text.h"
#include "sim/core/whole.h"

namespace foretrace::report::mapping_parts {
namespace {

Value nanoseconds(double ns) { return Value::time(to_whole(ns)); }

void add_tasks(const Mapping& mapping, const MappingAnswer& answer, Section& section) {
  const mapping::TaskTimes& best = *answer.best;
  const mapping::TaskTimes& heft = *answer.heft;
  section.headline = fmt::format(
      "{} on {}: {}, {:.2f} times the longest chain; HEFT {}", plural(mapping.tasks.size(), "task"),
      plural(mapping.devices.size(), "device"), shown_text(nanoseconds(best.makespan)),
      best.stretch, shown_text(nanoseconds(heft.makespan)));
  section.datum("makespan_ns", nanoseconds(best.makespan));
  section.datum("heft_makespan_ns", nanoseconds(heft.makespan));
  section.datum("stretch", Value::plain(best.stretch));
  Table table{
      .key = "tasks",
      .name = "tasks",
      .title = "task",
      .columns = {{"task"}, {"device", "device"}, {"start_ns", "starts"}, {"end_ns", "ends"}},
      .longest = 50};
  for (std::size_t i = 0; i < mapping.tasks.size(); ++i) {
    table.add({Value::words(mapping.tasks[i]), Value::words(mapping.devices[best.device[i]]),
               nanoseconds(best.start[i]), nanoseconds(best.end[i])});
  }
  section.tables.push_back(std::move(table));
}

void add_tables(const Mapping& mapping, const MappingAnswer& answer, Section& section) {
  const mapping::ShardPlan& plan = *answer.plan;
  const double whole = answer.whole ? answer.whole->seconds : 0;
  section.headline = fmt::format(
      "{} in {} on {}: {} per batch{}", plural(mapping.tables.size(), "table"),
      plural(plan.parts.size(), "part"), plural(mapping.sharding.devices, "accelerator"),
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
    table.add({Value::words(mapping.tables[plan.of[i]]), Value::plain(plan.parts[i].dim),
               Value::plain(plan.device[i])});
  }
  section.tables.push_back(std::move(table));
}

Result<Page> page(const Catalogue& catalogue, const std::string& path) {
  FORETRACE_TRY(const auto mapping, read_mapping(catalogue, path));
  FORETRACE_TRY(const auto answer, run_mapping(mapping));
  Section section{.key = answer.best ? "mapping" : "tables"};
  section.datum("path", Value::words(mapping.path));
  (answer.best ? add_tasks : add_tables)(mapping, answer, section);
  return Page{.schema = "foretrace.mapping_result/1",
              .document_keys = {"path"},
              .sections = {std::move(section)},
              .main_table = answer.best ? "tasks" : "parts"};
}

}  // namespace

extern constexpr FileKind info = {.schema = mapping_schema,
                                  .holds = "tasks or tables to map onto devices",
                                  .command = "simulate",
                                  .page = page};

}  // namespace foretrace::report::mapping_parts
