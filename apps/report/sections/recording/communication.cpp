// What the collectives of a job cost, who comes late, and which hosts stall.
#include "apps/report/pages/communication.h"

#include <algorithm>

#include <fmt/format.h>

#include "apps/report/sections/parts.h"
#include "apps/report/sections/recording/job.h"
#include "apps/report/sections/words.h"
#include "apps/report/text.h"

namespace foretrace::report::sections {
namespace {

// Longer lists are cut; documents have them whole.
constexpr std::size_t most_communication_rows = 12;

std::string communication_headline(const CommunicationAnswer& answer) {
  const Communication& communication = answer.communication;
  std::int64_t transfer = 0;
  std::int64_t waiting = 0;
  for (const CommunicationRow& row : communication.rows) {
    transfer += row.transfer_ns;
    waiting += row.waiting_ns;
  }
  const bool is_known = communication.matched > 0 || communication.collectives == 0;
  const std::optional<LateRank> late = late_rank_of(answer.session, communication);
  return fmt::format(
      "{}{}: {} of {} matched, {}", late ? late_rank_text(*late) + "\n" : std::string(),
      shorten(answer.session.recording().path, 32), communication.matched,
      plural(communication.collectives, "collective"),
      is_known ? fmt::format("{} waiting, {} transfer", time_text(waiting), time_text(transfer))
               : fmt::format("waiting unknown: {} of transfer and waiting together",
                             time_text(transfer)));
}

std::string communicator_text(const trace::JobCommunicator& communicator) {
  std::string text = fmt::format("{}: {} of {} ranks, ", shorten(communicator.name, 30),
                                 communicator.members.size(), communicator.size);
  if (communicator.members.size() < 2) {
    text += fmt::format("{} on the one rank",
                        plural(communicator.matched + communicator.incomplete, "collective"));
  } else {
    text += communicator.refused.empty()
                ? fmt::format("{} matched on all ranks, {} not, by {}", communicator.matched,
                              communicator.incomplete, trace::to_string(communicator.method))
                : fmt::format("none of {} matched, by {}",
                              plural(communicator.matched + communicator.incomplete, "collective"),
                              trace::to_string(communicator.method));
  }
  return communicator.refused.empty() ? text : text + fmt::format(" ({})", communicator.refused);
}

Table costs_table(const Communication& communication) {
  Table table{.key = "rows",
              .name = "collectives",
              .title = "collectives",
              .columns = {{"", ""},
                          {"ranks", "ranks"},
                          {"bytes", "size"},
                          {"count", "count"},
                          {"median_transfer_ns", "transfer", Show::always, false, -1},
                          {"bus_bandwidth", "bandwidth"},
                          {"waiting_ns", "waiting"},
                          {"communicator", "", Show::never},
                          {"kind", "", Show::never},
                          {"complete", "", Show::never},
                          {"transfer_ns", "", Show::never},
                          {"pair_bandwidth", "", Show::never}},
              .longest = most_communication_rows};
  for (const CommunicationRow& row : communication.rows) {
    table.add(
        {Value::words(fmt::format("{} {}", to_string(row.kind), shorten(row.communicator, 24))),
         Value::plain(row.ranks),
         row.bytes < 0 ? Value::none("not recorded") : Value::bytes(row.bytes),
         Value::count(row.count), Value::time(row.median_transfer_ns),
         Value::bandwidth(row.bus_bandwidth),
         row.complete ? Value::time(row.waiting_ns) : Value::none("not separated"),
         Value::words(row.communicator), Value::words(to_string(row.kind)),
         Value::flag(row.complete), Value::time(row.transfer_ns),
         Value::bandwidth(row.pair_bandwidth)});
  }
  return table;
}

/// The ranks as in every document of a job, and what communication costs each.
Table rank_costs_table(const CommunicationAnswer& answer) {
  Table table = ranks_table(answer.session.recording(), answer.session.replay());
  table.longest = most_communication_rows;
  for (Column& column : table.columns) column.show = Show::never;
  table.columns.push_back({"communication", "", Show::never});
  for (const char* const title :
       {"ranks", "transfer", "waiting", "hidden", "last in", "late by", "clock"}) {
    table.columns.push_back({"", title});
  }
  for (std::size_t r = 0; r < answer.communication.ranks.size(); ++r) {
    const RankCommunication& rank = answer.communication.ranks[r];
    // A rank whose collectives were matched with no other's waits for an unknown time.
    const bool is_known = rank.exposed_waiting_ns.has_value();
    const auto if_known = [&](Value value) {
      return is_known ? std::move(value) : Value::none("unknown");
    };
    std::vector<Value>& cells = table.rows[r].cells;
    cells.push_back(
        Value::object({{"exposed_transfer_ns", Value::time(rank.exposed_transfer_ns)},
                       {"exposed_waiting_ns", if_known(Value::time(rank.exposed_waiting_ns))},
                       {"overlapped_ns", Value::time(rank.overlapped_ns)},
                       {"arrives_last", if_known(Value::count(rank.arrives_last))},
                       {"late_ns", if_known(Value::time(rank.late_ns))}}));
    for (Value& value : std::vector<Value>{
             Value::words(fmt::format("rank {}", rank.rank)), Value::time(rank.exposed_transfer_ns),
             if_known(Value::time(rank.exposed_waiting_ns)), Value::time(rank.overlapped_ns),
             if_known(Value::count(rank.arrives_last)), if_known(Value::time(rank.late_ns)),
             clock_value(answer.session.recording().job->matching.clocks[r])}) {
      cells.push_back(std::move(value));
    }
  }
  return table;
}

Table stalls_table(const Communication& communication) {
  Table table{.key = "stalls",
              .title = "CPU stalls of one rank",
              .columns = {{"", ""},
                          {"", "before"},
                          {"count", "count"},
                          {"median_ns", "median", Show::always, false, -1},
                          {"excess_ns", "excess"},
                          {"rank", "", Show::never},
                          {"call", "", Show::never},
                          {"operator", "", Show::never},
                          {"longest_ns", "", Show::never}},
              .longest = most_communication_rows};
  for (const StallRow& stall : communication.stalls) {
    const std::string inside =
        stall.operator_name.empty() ? "" : fmt::format(" in {}", stall.operator_name);
    table.add({Value::words(fmt::format("rank {}", stall.rank)), Value::words(stall.call + inside),
               Value::count(stall.count), Value::time(stall.median_ns),
               Value::time(stall.excess_ns), Value::plain(stall.rank), Value::words(stall.call),
               Value::words(stall.operator_name), Value::time(stall.longest_ns)});
  }
  return table;
}

}  // namespace

Sections communication_context(const CommunicationAnswer& answer) {
  const Recording& recording = answer.session.recording();
  const Replay& replay = answer.session.replay();
  Section section{.key = "communicators", .headline = communication_headline(answer)};
  section.line("step",
               fmt::format("{} measured, {} simulated", time_text(replay.measured_answer.step_ns),
                           time_text(replay.run.answer.step_ns, replay.measured_answer.step_ns)));
  for (const trace::JobCommunicator& communicator : recording.job->matching.communicators) {
    section.line("group", communicator_text(communicator));
  }
  section.datum("collectives", Value::count(answer.communication.collectives));
  section.datum("matched", Value::count(answer.communication.matched));
  section.datum("warnings", Value::texts(recording.built.warnings));
  Section groups{.key = "communicators", .show = Show::never};
  groups.tables.push_back(communicators_table(*recording.job));
  Section honesty = honesty_section("honesty", recording.built.honesty, nullptr);
  honesty.datum("doubt", doubts_value(replay.doubts));
  return {input_section(recording.path, recording.events.info),
          import_section(recording.report),
          steps_section("measured", replay.measured, replay.measured_answer),
          trace_section(recording),
          std::move(section),
          std::move(groups),
          flags_section(recording.built),
          std::move(honesty)};
}

Sections communication_costs(const CommunicationAnswer& answer) {
  const Communication& communication = answer.communication;
  Section section{.key = "costs", .scale_ns = answer.session.replay().measured.span_ns};
  section.tables.push_back(costs_table(communication));
  if (communication.rows.empty()) {
    section.note("no collective kernels were recorded");
    return {std::move(section)};
  }
  const bool sizes = std::all_of(communication.rows.begin(), communication.rows.end(),
                                 [](const auto& row) { return row.bytes >= 0; });
  section.note(
      fmt::format("transfer: median of one rank after the last one arrived; bandwidth: bus "
                  "bandwidth of that transfer{}; waiting: sum over ranks",
                  sizes ? "" : ", where the size was recorded"));
  return {std::move(section)};
}

Sections communication_ranks(const CommunicationAnswer& answer) {
  Section section{.key = "ranks", .scale_ns = answer.session.replay().measured.span_ns};
  section.tables.push_back(rank_costs_table(answer));
  if (answer.communication.rows.empty()) {
    section.show = Show::never;
    return {std::move(section)};
  }
  section.note(
      "exposed: transfer and waiting without overlapping computation; hidden: communication with "
      "it; last in: collectives in which the rank arrives last; late by: sum of its delays after "
      "the median arrival of the others in them");
  return {std::move(section)};
}

Sections communication_stalls(const CommunicationAnswer& answer) {
  Section section{.key = "stalls", .scale_ns = answer.session.replay().measured.span_ns};
  section.tables.push_back(stalls_table(answer.communication));
  if (answer.communication.stalls.empty() && !answer.communication.rows.empty()) {
    section.note("no CPU stalls above 1 ms that hit only one rank");
  }
  return {std::move(section)};
}

}  // namespace foretrace::report::sections
