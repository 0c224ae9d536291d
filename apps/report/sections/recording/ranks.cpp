// The ranks of a job beside their simulation, and the groups in which they meet.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "apps/report/pages/result.h"
#include "apps/report/sections/recording/job.h"
#include "apps/report/sections/words.h"
#include "apps/report/text.h"
#include "sim/result/steps/steps.h"

namespace foretrace::report::sections {
namespace {

/// The error farthest from 0 of all steps.
double worst_error(const StepTimes& was, const StepTimes& is) {
  double worst = 0;
  for (std::size_t s = 0; s < std::min(was.host_ns.size(), is.host_ns.size()); ++s) {
    const double error = change_of(is.host_ns[s], was.host_ns[s]);
    worst = std::abs(error) > std::abs(worst) ? error : worst;
  }
  return worst;
}

Section rank_steps(const Recording& recording, const Replay& replay) {
  Table table{.title = "ranks",
              .columns = {{"rank"},
                          {"measured_ns", "measured", Show::always, false, -1},
                          {"simulated_ns", "simulated"},
                          {"error", "error"},
                          {"worst_step_error", "worst step"},
                          {"matched", "matched"},
                          {"clock_offset_ns", "clock"}},
              .longest = 12};
  const auto& ranks = recording.job->ranks;
  std::int64_t slowest = 0;
  for (std::size_t i = 0; i < replay.measured.ranks.size(); ++i) {
    const StepTimes& was = replay.measured.ranks[i];
    const StepTimes& is = replay.run.steps.ranks[i];
    const std::int64_t measured = median(was.host_ns);
    const std::int64_t simulated = median(is.host_ns);
    slowest = std::max(slowest, measured);
    const auto facts = std::find_if(ranks.begin(), ranks.end(),
                                    [&](const auto& rank) { return rank.rank == was.rank; });
    const auto at = static_cast<std::size_t>(facts - ranks.begin());
    table.add({Value::words(fmt::format("rank {}", was.rank)), Value::time(measured),
               Value::time(simulated), Value::change(change_of(simulated, measured)),
               Value::change(worst_error(was, is)),
               Value::count(facts->matched)
                   .as(fmt::format("{} of {}", facts->matched, facts->collectives)),
               clock_value(recording.job->matching.clocks[at])});
  }
  Section section{.key = "rank_table", .tables = {std::move(table)}, .show = Show::details};
  section.scale_ns = slowest;
  section.note(
      "median steps; matched: collectives found on all ranks (the others keep their recorded "
      "duration); clock: offset, from the ends of collectives");
  return section;
}

/// "8 ranks, median steps at most 0.02 % off (rank 3); 84 of 84 collectives matched".
Section rank_summary(const Recording& recording, const Replay& replay) {
  double worst = 0;
  std::int32_t where = 0;
  for (std::size_t i = 0; i < replay.measured.ranks.size(); ++i) {
    const double error = change_of(median(replay.run.steps.ranks[i].host_ns),
                                   median(replay.measured.ranks[i].host_ns));
    if (i == 0 || std::abs(error) > std::abs(worst)) {
      worst = error;
      where = replay.measured.ranks[i].rank;
    }
  }
  std::uint64_t matched = 0;
  std::uint64_t collectives = 0;
  for (const trace::RankFacts& rank : recording.job->ranks) {
    matched += rank.matched;
    collectives += rank.collectives;
  }
  std::string text = plural(recording.job->ranks.size(), "rank");
  if (!replay.measured.ranks.empty()) {
    text +=
        fmt::format(", median steps at most {} off (rank {})", signed_percent_text(worst), where);
  }
  text += fmt::format("; {} of {} matched", count_text(matched), plural(collectives, "collective"));
  Section section{.key = "rank_line"};
  section.line("ranks", text);
  return section;
}

}  // namespace

Sections ranks(const ResultAnswer& answer) {
  const Recording& recording = answer.session.recording();
  if (recording.job == nullptr) {
    return {};
  }
  Section document{.key = "ranks", .show = Show::never};
  document.tables.push_back(ranks_table(recording, answer.session.replay()));
  document.tables.push_back(communicators_table(*recording.job));
  return {std::move(document)};
}

Sections rank_rows(const ResultAnswer& answer) {
  if (answer.session.recording().job == nullptr) {
    return {};
  }
  return {rank_summary(answer.session.recording(), answer.session.replay()),
          rank_steps(answer.session.recording(), answer.session.replay())};
}

}  // namespace foretrace::report::sections
