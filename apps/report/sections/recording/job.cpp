#include "apps/report/sections/recording/job.h"

#include <cstdlib>

#include <fmt/format.h>

#include "apps/report/text.h"
#include "apps/session/predict.h"
#include "apps/session/recording/load.h"
#include "apps/session/recording/measured_steps.h"
#include "sim/result/steps/steps.h"

namespace foretrace::report {
namespace {

/// Steps of one rank, if it has any.
Value steps_of(const StepTimes& job, std::int32_t rank) {
  for (const StepTimes& times : job.ranks) {
    if (times.rank == rank) return Value::numbers(times.host_ns);
  }
  return Value::numbers(job.ranks.empty() && job.rank == rank ? job.host_ns : Value::Numbers{});
}

Value clock_object(const trace::RankClock& clock) {
  return Value::object({{"aligned", Value::flag(clock.aligned)},
                        {"offset_ns", Value::time(clock.offset_ns)},
                        {"spread_ns", Value::time(clock.spread_ns)},
                        {"pairs", Value::count(clock.pairs)},
                        {"drift", Value::plain(clock.drift)},
                        {"device_shift_ns", Value::time(clock.device_shift_ns)}});
}

}  // namespace

Table ranks_table(const Recording& recording, const Replay& replay) {
  Table table{.key = "ranks",
              .columns = {{"rank"},
                          {"path"},
                          {"measured_steps_ns"},
                          {"simulated_steps_ns"},
                          {"clock"},
                          {"collectives"},
                          {"matched"},
                          {"unexplained_device_ns"},
                          {"flags"}}};
  for (std::size_t r = 0; r < recording.job->ranks.size(); ++r) {
    const trace::RankFacts& facts = recording.job->ranks[r];
    table.add({Value::plain(facts.rank), Value::words(recording.job->paths[r]),
               steps_of(replay.measured, facts.rank), steps_of(replay.run.steps, facts.rank),
               clock_object(recording.job->matching.clocks[r]), Value::count(facts.collectives),
               Value::count(facts.matched), Value::time(facts.honesty.unexplained_device_ns),
               Value::texts(facts.honesty.flags)});
  }
  return table;
}

Table communicators_table(const JobFacts& job) {
  Table table{
      .key = "communicators",
      .columns = {
          {"name"}, {"size"}, {"ranks"}, {"matched_by"}, {"matched"}, {"incomplete"}, {"refused"}}};
  for (const trace::JobCommunicator& communicator : job.matching.communicators) {
    Value::Numbers ranks;
    for (const std::uint32_t member : communicator.members) {
      ranks.push_back(job.ranks[member].rank);
    }
    table.add({Value::words(communicator.name), Value::count(communicator.size),
               Value::numbers(std::move(ranks)),
               Value::words(trace::to_string(communicator.method)),
               Value::count(communicator.matched), Value::count(communicator.incomplete),
               Value::words(communicator.refused)});
  }
  return table;
}

Value clock_value(const trace::RankClock& clock) {
  if (!clock.aligned) {
    return Value::none("as recorded");
  }
  constexpr std::int64_t long_ns = 10'000'000;
  const char* const sign = clock.offset_ns < 0 ? "-" : "+";
  const std::int64_t size = std::abs(clock.offset_ns);
  const std::string offset =
      size < long_ns ? fmt::format("{:.1f}", static_cast<double>(size) / 1e3) : time_text(size);
  return Value::time(clock.offset_ns)
      .as(fmt::format("{}{} +-{:.1f} us", sign, offset,
                      static_cast<double>(clock.spread_ns) / 1e3));
}

std::string late_rank_text(const LateRank& late) {
  return fmt::format("rank {} makes the others wait {} per step ({}), last in {} of {}", late.rank,
                     time_text(late.late_ns), percent_text(late.share), late.arrives_last,
                     plural(late.collectives, "collective"));
}

Value late_rank_value(const LateRank& late) {
  return Value::object({{"rank", Value::plain(late.rank)},
                        {"late_ns", Value::time(late.late_ns)},
                        {"share", Value::share(late.share)},
                        {"arrives_last", Value::count(late.arrives_last)},
                        {"collectives", Value::count(late.collectives)}});
}

}  // namespace foretrace::report
