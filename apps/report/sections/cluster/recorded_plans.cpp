// Ways to spread a recorded run over a cluster: the best, and those that cannot be.
#include "apps/plans/recorded_plans.h"

#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "apps/report/pages/cluster/recorded_plans.h"
#include "apps/report/sections/parts.h"
#include "apps/report/sections/words.h"
#include "apps/report/text.h"
#include "sim/core/text.h"

namespace foretrace::report::sections {
namespace {

/// "4.95": a factor as sentences have it.
std::string times_text(double factor) {
  return factor < 100 ? fmt::format("{:.3g}", factor) : fmt::format("{:.0f}", factor);
}

std::string plan_words(const RecordedPlan& plan) {
  return plan.settings + (plan.batch == 1
                              ? std::string()
                              : fmt::format(" and {:g} times the batch in every pass", plan.batch));
}

/// The step as recorded is faster than every plan of equal work, which more samples may change.
std::string slower_headline(const RecordedPlans& answer) {
  const RecordedPlan& best = answer.plans.front();
  std::string text = fmt::format(
      "no plan on {} x {} is faster with as many samples per step as recorded: {} times the "
      "samples per second with {}",
      count_text(answer.gpus), answer.cluster.accelerator.product, times_text(best.speedup),
      plan_words(best));
  const auto larger = std::ranges::find_if(answer.plans, [](const RecordedPlan& plan) {
    return plan.fits && !plan.is_equal_work() && plan.speedup > 1;
  });
  if (larger == answer.plans.end()) return text;
  return text + fmt::format("; with {:g} times the samples: {} times with {}, {} per step",
                            larger->samples, times_text(larger->speedup), plan_words(*larger),
                            time_text(larger->step_ns));
}

std::string recorded_plans_headline(const RecordedPlans& answer) {
  if (answer.plans.empty()) {
    return fmt::format("no plan spreads this run over {} of {}", plural(answer.gpus, "device"),
                       answer.cluster.name);
  }
  const RecordedPlan& best = answer.plans.front();
  if (!best.fits) {
    return fmt::format("nothing fits: all {} plans on {} need more than {} per device",
                       count_text(answer.plans.size()), plural(answer.gpus, "device"),
                       bytes_text(answer.cluster.accelerator.memory_bytes));
  }
  if (best.is_equal_work() && best.speedup < 1) return slower_headline(answer);
  return fmt::format("{} times the samples per second with {}: {} per step ({}) of {}, on {} x {}",
                     times_text(best.speedup), plan_words(best), time_text(best.step_ns),
                     time_range_text(best.low_ns, best.high_ns, best.step_ns),
                     best.is_equal_work() ? std::string("as many samples as recorded")
                                          : fmt::format("{:g} times the samples", best.samples),
                     count_text(answer.gpus), answer.cluster.accelerator.product);
}

/// The plans of either kind.
Table plan_table(const RecordedPlansPart& part, bool equal_work) {
  const RecordedPlans& answer = part.answer;
  Table table{.key = equal_work ? "plans" : "larger_batches",
              .columns = {{"parallel", "--parallel"},
                          {"batch_factor", "batch", equal_work ? Show::always : Show::details},
                          {"step_ns", "step"},
                          {"low_ns", "low", Show::details},
                          {"high_ns", "high", Show::details},
                          {"samples_factor", "samples", equal_work ? Show::details : Show::always},
                          {"speedup", "faster"},
                          {"time_ratio", "", Show::never},
                          {"efficiency", "efficiency"},
                          {"samples_per_s", "samples/s"},
                          {"exposed_ns", "exposed"},
                          {"memory_bytes", "memory"},
                          {"fits", "fits", answer.too_large > 0 ? Show::always : Show::details}},
              .brief = std::max<std::size_t>(part.keep, 1)};
  for (const RecordedPlan& plan : answer.plans) {
    if (plan.is_equal_work() != equal_work) continue;
    table.add(
        {Value::words(plan.settings), Value::plain(plan.batch).as(fmt::format("{:g}x", plan.batch)),
         Value::time(plan.step_ns), Value::time(plan.low_ns), Value::time(plan.high_ns),
         Value::plain(plan.samples).as(fmt::format("{:g}x", plan.samples)),
         Value::factor(plan.speedup),
         Value::factor(time_ratio_of(answer.recorded_step_ns, plan.step_ns)),
         Value::share(plan.efficiency),
         plan.samples_per_s ? Value::plain(*plan.samples_per_s).as(rate_text(*plan.samples_per_s))
                            : Value::none(),
         plan.exposed_ns < 0 ? Value::none() : Value::time(plan.exposed_ns),
         plan.memory_bytes ? Value::bytes(*plan.memory_bytes) : Value::none(),
         Value::flag(plan.fits)});
  }
  return table;
}

bool is_above_one(const RecordedPlan& plan) { return plan.efficiency > most_efficiency; }

}  // namespace

Sections recorded_plans_context(const RecordedPlansPart& part) {
  const RecordedPlans& answer = part.answer;
  Section section{.key = "input", .path = "input", .headline = recorded_plans_headline(answer)};
  section.fact(
      "path", "trace",
      Value::words(part.recording.path).as(std::string(file_name_of(part.recording.path))));
  section.fact("cluster", "cluster",
               Value::words(answer.cluster.name)
                   .as(fmt::format("{}: {}", answer.cluster.name, answer.cluster.machine)));
  section.fact("devices", "devices", Value::plain(answer.gpus));
  section.fact(
      "step_ns", "recorded",
      Value::time(answer.recorded_step_ns)
          .as(fmt::format(
              "step {}{}", time_text(answer.recorded_step_ns),
              answer.recorded_devices > 1
                  ? fmt::format(" of one of {} devices, which may include waiting for others",
                                answer.recorded_devices)
                  : std::string())));
  section.fact("tried", "tried",
               Value::count(answer.plans.size() + answer.refused.size())
                   .as(fmt::format("{} plans; {} are impossible, {} do not fit into {} per device",
                                   count_text(answer.plans.size() + answer.refused.size()),
                                   count_text(answer.refused.size()), count_text(answer.too_large),
                                   bytes_text(answer.cluster.accelerator.memory_bytes))));
  section.datum("too_large", Value::count(answer.too_large));
  section.datum("doubt", doubts_value(part.doubts));
  return {std::move(section)};
}

Sections recorded_plans_best(const RecordedPlansPart& part) {
  const RecordedPlans& answer = part.answer;
  Section section{.key = "plans", .title = "plans", .tables = {plan_table(part, true)}};
  section.note(
      "a step processes as many samples as the recorded one; batch: of each data rank and "
      "micro-batch over the recorded one (batch_size:factor=N); faster: samples per second over "
      "the recorded run; efficiency: time of one device for the same samples (with gradient "
      "accumulation if they are more) over that of all devices; exposed: collectives that no "
      "computation overlaps; memory: of the fullest device");
  if (std::ranges::any_of(answer.plans, is_above_one)) {
    section.note(fmt::format("above 100 %: {}", above_all_text));
  }
  if (section.tables.front().rows.empty()) section.show = Show::never;
  return {std::move(section)};
}

Sections recorded_plans_larger(const RecordedPlansPart& part) {
  Section section{.key = "larger_batches",
                  .title = "plans of more samples per step",
                  .tables = {plan_table(part, false)}};
  section.note(
      "every data rank and micro-batch processes the recorded batch, so a step processes more "
      "samples and may need other hyperparameters; do not compare its time alone with the plans "
      "above");
  if (section.tables.front().rows.empty()) section.show = Show::never;
  return {std::move(section)};
}

Sections recorded_plans_refused(const RecordedPlansPart& part) {
  Table table{.key = "refused",
              .columns = {{"parallel", "plans"},
                          {"batch_factor", "batch", Show::never},
                          {"why", "why", Show::always, false, 0, true}}};
  // On the page one row per reason.
  std::vector<std::pair<std::string, std::string>> by_reason;
  for (const RefusedPlan& plan : part.answer.refused) {
    const auto known = std::find_if(by_reason.begin(), by_reason.end(),
                                    [&plan](const auto& row) { return row.second == plan.why; });
    if (known == by_reason.end()) {
      by_reason.emplace_back(plan.settings, plan.why);
    } else if (known->first.find(" ...") == std::string::npos) {
      known->first += " ...";
    }
    table.rows.push_back(
        {.cells = {Value::words(plan.settings), Value::plain(plan.batch), Value::words(plan.why)},
         .show = Show::never});
  }
  for (auto& [settings, why] : by_reason) {
    table.rows.push_back(
        {.cells = {Value::words(std::move(settings)), Value::none(), Value::words(std::move(why))},
         .is_for_pages = true});
  }
  Section section{.key = "refused", .title = "impossible plans", .tables = {std::move(table)}};
  if (by_reason.empty()) section.show = Show::never;
  return {std::move(section)};
}

}  // namespace foretrace::report::sections
