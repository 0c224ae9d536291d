// Execution traces of ranks on a cluster: the step, where it goes, and what communication takes.
#include "apps/report/pages/cluster/node_job.h"

#include <algorithm>

#include <fmt/format.h>

#include "apps/report/sections/breakdown_parts.h"
#include "apps/report/sections/parts.h"
#include "apps/report/sections/words.h"
#include "apps/report/text.h"

namespace foretrace::report::sections {
namespace {

constexpr std::size_t most_exchange_rows = 12;

Section job_breakdown(const NodeAnswer& answer) {
  const std::int64_t step = answer.run.answer.step_ns;
  const Breakdown& breakdown = answer.analysis.breakdown;
  Section section{.key = "where",
                  .title = fmt::format("where the step goes, on rank {}, which computes most",
                                       answer.busiest_rank),
                  .scale_ns = step};
  Table table{.columns = {{"part"}, {"time_ns", "time"}, {"share", "share"}}};
  for (const BreakdownPart& part : breakdown_parts) {
    const std::int64_t time = breakdown.*part.time_ns;
    if (time == 0) continue;
    table.add({Value::words(part.title), Value::time(time), Value::share(share_of(time, step))});
  }
  section.tables.push_back(std::move(table));
  if (answer.analysis.free_transfers_ns) {
    section.note(
        fmt::format("computation hides {} of communication; if communication took no time, the "
                    "step would be {} shorter",
                    time_text(breakdown.communication_overlapped_ns, step),
                    time_text(*answer.analysis.free_transfers_ns, step)));
  }
  return section;
}

}  // namespace

Sections node_job_step(const NodeJobPart& part) {
  const NodeAnswer& answer = part.answer;
  const Cluster& cluster = part.scenario.cluster;
  const std::int64_t step = answer.run.answer.step_ns;
  const Breakdown& breakdown = answer.analysis.breakdown;
  Section section{.key = "node_job",
                  .headline = fmt::format(
                      "{} per step on {} x {}, {} of it exposed communication", time_text(step),
                      count_text(answer.ranks), cluster.accelerator.product,
                      percent_text(share_of(breakdown.communication_exposed_ns, step)))};
  section.datum("path", Value::words(part.scenario.path));
  section.datum("format", Value::words(answer.format));
  section.datum("ranks", Value::count(answer.ranks));
  section.datum("nodes", Value::count(answer.nodes));
  section.datum("cluster", Value::words(cluster.name));
  section.datum("step_ns", Value::time(step));
  section.datum("busiest_rank", Value::plain(answer.busiest_rank));
  section.datum("communication_overlapped_ns", Value::time(breakdown.communication_overlapped_ns));
  section.datum(
      "free",
      Value::object({{"communication_transfer_ns", Value::time(answer.analysis.free_transfers_ns)},
                     {"communication_waiting_ns", Value::time(answer.analysis.free_waiting_ns)}}));
  section.datum("provenance", by_name<Provenance>(answer.analysis.provenance, [](double share) {
                  return Value::share(share);
                }));
  if (!answer.doubts.empty()) section.doubt = answer.doubts.front().brief;
  section.datum("warnings", Value::texts(answer.warnings));
  section.line("traces", fmt::format("{} of {}, {}", plural(answer.nodes, "node"),
                                     plural(answer.ranks, "rank"), answer.format));
  section.line("groups", answer.groups.empty() ? "as the traces name them"
                                               : shorten(answer.groups, page_width - 12));
  section.line("on", cluster.machine);
  section.line("computation", "as recorded, whatever the accelerator");
  section.line("timeline", part.timeline);
  for (const std::string& warning : answer.warnings) section.notes.push_back({.text = warning});
  return {std::move(section), job_breakdown(answer),
          breakdown_section("breakdown", "breakdown", answer.analysis.breakdown)};
}

Sections node_job_exchanges(const NodeJobPart& part) {
  const NodeAnswer& answer = part.answer;
  Section section{.key = "exchanges", .title = "communication"};
  Table table{.key = "exchanges",
              .name = "exchanges",
              .columns = {{"kind", "kind"},
                          {"ranks", "ranks"},
                          {"nodes", "nodes"},
                          {"bytes", "size"},
                          {"count", "count"},
                          {"time_ns", "each", Show::always, false, -1},
                          {"provenance", "time from"}},
              .longest = most_exchange_rows};
  for (const ExchangeRow& row : answer.exchanges) {
    table.add({Value::words(to_string(row.kind)), Value::count(row.ranks), Value::count(row.nodes),
               row.bytes < 0 ? Value::none() : Value::bytes(row.bytes), Value::count(row.count),
               Value::time(row.ns), Value::words(to_string(row.provenance))});
  }
  section.datum("transfer_ns", Value::time(answer.transfer_ns));
  section.datum("recorded_transfer_ns", Value::time(answer.recorded_transfer_ns));
  const bool is_recorded = answer.recorded_transfer_ns > 0;
  if (!answer.exchanges.empty()) {
    section.note(fmt::format("all ranks together: {}{}", time_text(answer.transfer_ns),
                             is_recorded ? fmt::format(" here, {} as recorded, waiting included",
                                                       time_text(answer.recorded_transfer_ns))
                                         : ""));
  } else {
    section.note("the traces have no communication among ranks");
  }
  section.tables.push_back(std::move(table));
  return {std::move(section)};
}

}  // namespace foretrace::report::sections
