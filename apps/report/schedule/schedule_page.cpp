// The page about runs of the scheduling simulator.
#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "apps/report/schedule/schedule_report.h"
#include "apps/report/style.h"
#include "apps/report/text.h"

namespace foretrace::app {
namespace {

using scheduling::Metrics;
using scheduling::Schedule;
using scheduling::ScheduleRun;

// Hours, minutes or seconds: what fits times of jobs.
std::string long_time_text(double seconds) {
  if (seconds >= 2 * 3600) return fmt::format("{:.2f} h", seconds / 3600);
  if (seconds >= 2 * 60) return fmt::format("{:.2f} min", seconds / 60);
  return fmt::format("{:.2f} s", seconds);
}

// Parameters of policies stand below the table, by letter.
std::string settings_text(const scheduling::Choice& choice) {
  std::string text;
  for (const auto& [key, value] : choice.settings) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", key, value);
  }
  return text;
}

class Notes {
 public:
  std::string name_of(const scheduling::Choice& choice) {
    if (choice.settings.empty()) return choice.name;
    const char letter = static_cast<char>('a' + static_cast<int>(next_++ % 26));
    text_ += paragraph(fmt::format("  [{}] ", letter), settings_text(choice));
    return fmt::format("{} [{}]", choice.name, letter);
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::size_t next_ = 0;
  std::string text_;
};

std::string cluster_text(const Schedule& schedule) {
  std::string kinds;
  for (std::size_t i = 0; i < schedule.cluster.kinds.size(); ++i) {
    const auto kind = make_id<scheduling::KindId>(i);
    kinds += fmt::format("{}{} {}", kinds.empty() ? "" : ", ",
                         count_text(static_cast<std::uint64_t>(schedule.cluster.gpus_of(kind))),
                         schedule.cluster.kinds[kind].name);
  }
  return fmt::format("{} on {} ({})", plural(schedule.workload.jobs.size(), "job"),
                     plural(static_cast<std::uint64_t>(schedule.cluster.gpus()), "accelerator"),
                     kinds);
}

std::vector<const ScheduleRun*> best_first(std::span<const ScheduleRun> runs) {
  std::vector<const ScheduleRun*> order;
  for (const ScheduleRun& run : runs) order.push_back(&run);
  std::stable_sort(order.begin(), order.end(), [](const ScheduleRun* a, const ScheduleRun* b) {
    return a->metrics.completion_s.mean < b->metrics.completion_s.mean;
  });
  return order;
}

std::string policies_table(std::span<const ScheduleRun> runs) {
  constexpr auto right = Table::Align::right;
  const bool priced = std::any_of(runs.begin(), runs.end(),
                                  [](const ScheduleRun& run) { return run.metrics.cost > 0; });
  std::vector<Table::Align> columns(priced ? 10 : 9, right);
  columns.front() = Table::Align::left;
  Table table(columns);
  std::vector<std::string> head = {"policy",   "mean",   "median",    "99 %",  "waits",
                                   "makespan", "in use", "preempted", "unfair"};
  if (priced) head.emplace_back("cost");
  table.row(head);
  Notes notes;
  for (const ScheduleRun* run : best_first(runs)) {
    const Metrics& metrics = run->metrics;
    std::vector<std::string> row = {notes.name_of(run->policy),
                                    long_time_text(metrics.completion_s.mean),
                                    long_time_text(metrics.completion_s.median),
                                    long_time_text(metrics.completion_s.p99),
                                    long_time_text(metrics.waiting_s.mean),
                                    long_time_text(metrics.makespan_s),
                                    percent_text(metrics.use),
                                    count_text(static_cast<std::uint64_t>(metrics.preemptions)),
                                    count_text(metrics.unfair)};
    if (priced) row.push_back(fmt::format("{:.0f}", metrics.cost));
    table.row(row);
  }
  return table.text(2) + (notes.text().empty() ? "" : "\n" + notes.text());
}

std::string remarks(std::span<const ScheduleRun> runs) {
  std::string text;
  for (const ScheduleRun& run : runs) {
    const Metrics& metrics = run.metrics;
    std::string line;
    const auto add = [&line](std::size_t count, std::string_view what) {
      if (count == 0) return;
      line += fmt::format("{}{} {}", line.empty() ? "" : ", ", plural(count, "job"), what);
    };
    add(metrics.dropped, "dropped");
    add(metrics.unfinished, "not ended");
    add(metrics.missed_deadlines, "past the deadline");
    if (metrics.failures > 0) {
      line += fmt::format("{}{} of nodes under jobs", line.empty() ? "" : ", ",
                          plural(static_cast<std::uint64_t>(metrics.failures), "failure"));
    }
    if (!line.empty()) text += paragraph(fmt::format("  {}: ", run.policy.name), line);
  }
  return text.empty() ? "" : "\n" + text;
}

}  // namespace

std::string schedule_headline(const Schedule& schedule, std::span<const ScheduleRun> runs) {
  const ScheduleRun& best = *best_first(runs).front();
  return fmt::format("{}: mean completion {} under {}, makespan {}, {} in use\n",
                     cluster_text(schedule), long_time_text(best.metrics.completion_s.mean),
                     best.policy.name, long_time_text(best.metrics.makespan_s),
                     percent_text(best.metrics.use));
}

std::string schedule_page(const Schedule& schedule, std::span<const ScheduleRun> runs) {
  return paragraph("", schedule_headline(schedule, runs)) +
         "\ncompletion times (end minus arrival), time until the first start, whole run; unfair: "
         "later than\n1.05 times an equal division of the cluster would have allowed\n" +
         policies_table(runs) + remarks(runs);
}

}  // namespace foretrace::app
