// Pages about the ranks of a job: each rank beside its simulation, and what communication costs.
#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "apps/report/report.h"
#include "apps/report/report_parts.h"
#include "apps/report/style.h"
#include "apps/report/text.h"

namespace foretrace::app {
namespace {

// Longer lists are cut; --json has them whole.
constexpr std::size_t longest_ranks_list = 12;

std::string more_line(std::size_t all) {
  return all > longest_ranks_list
             ? fmt::format("  ... {} more\n", count_text(all - longest_ranks_list))
             : std::string();
}

/// "+12.5 us", or what stands for a clock that could not be aligned.
std::string clock_text(const trace::RankClock& clock) {
  if (!clock.aligned) {
    return "as recorded";
  }
  constexpr std::int64_t long_ns = 10'000'000;
  const char* const sign = clock.offset_ns < 0 ? "-" : "+";
  const std::int64_t size = std::abs(clock.offset_ns);
  return size < long_ns ? fmt::format("{}{:.1f} +-{:.1f} us", sign, static_cast<double>(size) / 1e3,
                                      static_cast<double>(clock.spread_ns) / 1e3)
                        : fmt::format("{}{} +-{:.1f} us", sign, time_text(size),
                                      static_cast<double>(clock.spread_ns) / 1e3);
}

std::string size_text(std::int64_t bytes) { return bytes < 0 ? "not recorded" : bytes_text(bytes); }

std::string rate_text(double bytes_per_second) {
  return bytes_per_second < 0 ? "-" : fmt::format("{:.1f}", bytes_per_second / 1e9);
}

std::string communicator_rows(const trace::JobMatching& matching) {
  std::string text;
  for (const trace::JobCommunicator& communicator : matching.communicators) {
    std::string line = fmt::format("{}: {} of {} ranks, ", shorten(communicator.name, 30),
                                   communicator.members.size(), communicator.size);
    if (communicator.members.size() < 2) {
      line += fmt::format("{} on the one rank",
                          plural(communicator.matched + communicator.incomplete, "collective"));
    } else {
      line += fmt::format("{} matched on all ranks, {} not, by {}", communicator.matched,
                          communicator.incomplete, trace::to_string(communicator.method));
    }
    if (!communicator.refused.empty()) {
      line += fmt::format(" ({})", communicator.refused);
    }
    text += row("group", line);
  }
  return text;
}

std::string cost_table(const driver::Communication& communication, std::int64_t span) {
  Table table({left, left, right, right, right, right, right});
  table.row({strong("collectives"), "ranks", "size", "count", "transfer", "GB/s", "waiting"});
  const std::size_t shown = std::min(communication.rows.size(), longest_ranks_list);
  for (std::size_t i = 0; i < shown; ++i) {
    const driver::CommunicationRow& row = communication.rows[i];
    table.row({fmt::format("  {} {}", to_string(row.kind), shorten(row.communicator, 24)),
               fmt::format("{}", row.ranks), size_text(row.bytes), count_text(row.count),
               time_text(row.median_transfer_ns), rate_text(row.bus_bandwidth),
               row.complete ? time_text(row.waiting_ns, span) : "not told apart"});
  }
  const bool sizes = std::all_of(communication.rows.begin(), communication.rows.end(),
                                 [](const auto& row) { return row.bytes >= 0; });
  return table.text(0) + more_line(communication.rows.size()) +
         paragraph("  ",
                   std::string("transfer: median of one rank after the last one arrived; GB/s: bus "
                               "bandwidth at it") +
                       (sizes ? "" : ", which takes a recorded size") +
                       "; waiting: sum over ranks") +
         "\n";
}

std::string rank_table(const driver::Recording& recording,
                       const driver::Communication& communication, std::int64_t span) {
  Table table({left, right, right, right, right, right, right});
  table.row({strong("ranks"), "transfer", "waiting", "covered", "last in", "late by", "clock"});
  const std::size_t shown = std::min(communication.ranks.size(), longest_ranks_list);
  for (std::size_t r = 0; r < shown; ++r) {
    const driver::RankCommunication& rank = communication.ranks[r];
    const bool is_known = rank.exposed_waiting_ns.has_value();
    table.row({fmt::format("  rank {}", rank.rank), time_text(rank.exposed_transfer_ns, span),
               is_known ? time_text(*rank.exposed_waiting_ns, span) : "unknown",
               time_text(rank.overlapped_ns, span),
               is_known ? count_text(rank.arrives_last) : "unknown",
               is_known ? time_text(rank.late_ns, span) : "unknown",
               clock_text(recording.job->matching.clocks[r])});
  }
  return table.text(0) + more_line(communication.ranks.size()) +
         paragraph("  ",
                   "transfer and waiting that no computation covers, and communication that is "
                   "covered; last in: collectives in which the rank arrives last, late by: its "
                   "distance from the median arrival in them, added up") +
         "\n";
}

std::string stall_table(const driver::Communication& communication, std::int64_t span) {
  if (communication.stalls.empty()) {
    return paragraph("  ", "no host stalls for more than 1 ms where the other ranks' do not");
  }
  Table table({left, left, right, right, right});
  table.row({strong("stalls of one host"), "before", "count", "median", "excess"});
  const std::size_t shown = std::min(communication.stalls.size(), longest_ranks_list);
  for (std::size_t i = 0; i < shown; ++i) {
    const driver::StallRow& stall = communication.stalls[i];
    const std::string inside =
        stall.operator_name.empty() ? "" : fmt::format(" in {}", stall.operator_name);
    table.row({fmt::format("  rank {}", stall.rank), shorten(stall.call + inside, 50),
               count_text(stall.count), time_text(stall.median_ns),
               time_text(stall.excess_ns, span)});
  }
  return table.text(0) + more_line(communication.stalls.size());
}

}  // namespace

std::string ranks_table(const driver::Recording& recording, const driver::Replay& replay) {
  if (recording.job == nullptr) {
    return "";
  }
  Table table({left, right, right, right, right, right, right});
  table.row({strong("ranks"), "measured", "simulated", "error", "worst step", "matched", "clock"});
  const std::size_t shown = std::min(replay.measured.ranks.size(), longest_ranks_list);
  for (std::size_t i = 0; i < shown; ++i) {
    const driver::StepTimes& was = replay.measured.ranks[i];
    const driver::StepTimes& is = replay.run.steps.ranks[i];
    double worst = 0;
    for (std::size_t s = 0; s < std::min(was.host_ns.size(), is.host_ns.size()); ++s) {
      const double error = share_of(is.host_ns[s] - was.host_ns[s], was.host_ns[s]);
      worst = std::abs(error) > std::abs(worst) ? error : worst;
    }
    const std::int64_t measured = driver::median(was.host_ns);
    const std::int64_t simulated = driver::median(is.host_ns);
    const auto& ranks = recording.job->ranks;
    const auto facts = std::find_if(ranks.begin(), ranks.end(),
                                    [&](const auto& rank) { return rank.rank == was.rank; });
    const auto at = static_cast<std::size_t>(facts - ranks.begin());
    table.row(
        {fmt::format("  rank {}", was.rank), time_text(measured), time_text(simulated, measured),
         signed_percent_text(share_of(simulated - measured, measured)), signed_percent_text(worst),
         fmt::format("{} of {}", facts->matched, facts->collectives),
         clock_text(recording.job->matching.clocks[at])});
  }
  return table.empty() || shown == 0
             ? std::string()
             : table.text(0) + more_line(replay.measured.ranks.size()) +
                   paragraph(
                       "  ",
                       "median steps; matched: collectives found on all ranks, the others keep "
                       "their recorded duration; clock: offset from the ends of collectives") +
                   "\n";
}

std::string communication_headline(const driver::Recording& recording,
                                   const driver::Communication& communication) {
  std::int64_t transfer = 0;
  std::int64_t waiting = 0;
  for (const driver::CommunicationRow& row : communication.rows) {
    transfer += row.transfer_ns;
    waiting += row.waiting_ns;
  }
  const bool is_known = communication.matched > 0 || communication.collectives == 0;
  return fmt::format(
      "{}: {} of {} matched, {}", shorten(recording.path, 32), communication.matched,
      plural(communication.collectives, "collective"),
      is_known
          ? fmt::format("{} waiting, {} transfer", time_text(waiting), time_text(transfer))
          : fmt::format("waiting unknown: {} of both transfer and waiting", time_text(transfer)));
}

std::string communication_page(const driver::Recording& recording, const driver::Replay& replay,
                               const driver::Communication& communication) {
  const std::int64_t span = replay.measured.span_ns;
  std::string page = strong(communication_headline(recording, communication)) + "\n\n";
  page += row("trace", trace_text(recording));
  page += row("step",
              fmt::format("{} measured, {} simulated", time_text(replay.measured_answer.step_ns),
                          time_text(replay.run.answer.step_ns, replay.measured_answer.step_ns)));
  page += communicator_rows(recording.job->matching);
  page += flag_rows(recording.built.honesty) + "\n";
  if (communication.rows.empty()) {
    return page + paragraph("  ", "no collective kernels were recorded");
  }
  return page + cost_table(communication, span) + rank_table(recording, communication, span) +
         stall_table(communication, span);
}

}  // namespace foretrace::app
