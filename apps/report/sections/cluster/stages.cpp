// Plans whose stages have layers and ranks of their own: the best, its stages, and what stages that
// are alike would do.
#include "apps/report/pages/cluster/stages.h"

#include <array>

#include <fmt/format.h>

#include "apps/plans/plan_search.h"
#include "apps/plans/stage_search.h"
#include "apps/report/sections/cluster/utilization.h"
#include "apps/report/text.h"
#include "models/jobs/program/stages.h"
#include "sim/core/whole.h"

namespace foretrace::report::sections {
namespace {

constexpr std::array<std::string_view, 4> shardings = {"none", "optimizer", "gradients",
                                                       "parameters"};

std::string stages_count(const StagedPlan& plan) {
  const std::size_t count = plan.scenario.job.stages.size();
  return count == 1 ? "one stage" : fmt::format("{} stages with their own layers and ranks", count);
}

std::string stages_headline(const StagesPart& part) {
  const StageAnswer& answer = part.answer;
  if (answer.best.empty()) {
    return fmt::format("nothing fits: no stages of {} for {} on {} fit into {} per device",
                       part.scenario.model->name, batch_text(part.scenario, answer.global_batch),
                       plural(answer.gpus, "device"),
                       bytes_text(part.scenario.cluster->accelerator.memory_bytes));
  }
  const StagedPlan& best = answer.best.front();
  std::string text =
      fmt::format("{} per step of {}{} with {}, micro-batch {}", time_text(best.step_ns),
                  batch_text(part.scenario, answer.global_batch), utilization_text(best.figures),
                  stages_count(best), best.scenario.job.micro_batch);
  if (!answer.even) return text + "; no plan of equal stages fits";
  if (best.step_ns == answer.even->step_ns) {
    return text + "; as fast as the best plan of equal stages";
  }
  const double change =
      static_cast<double>(best.step_ns) / static_cast<double>(answer.even->step_ns) - 1;
  return text +
         fmt::format("; {} against the best plan of equal stages", signed_percent_text(change));
}

/// As a scenario says them, with what they take.
Value stage_list(const StagedPlan& plan) {
  const Job& job = plan.scenario.job;
  const std::vector<std::uint32_t> layers = layers_by_position(job);
  Value::List list;
  for (std::uint32_t stage = 0; stage < job.plan.pipeline; ++stage) {
    std::uint32_t own = 0;
    for (std::uint32_t chunk = 0; chunk < job.chunks; ++chunk) {
      own += layers[position_of(*job.schedule, {job.plan.pipeline, 1, job.chunks}, stage, chunk)];
    }
    const ParallelPlan ranks = stage_plan(job, stage);
    const bool is_own = job.has_own_ranks();
    list.push_back(Value::object(
        {{"layers", Value::plain(own)},
         {"data", Value::plain(ranks.data)},
         {"tensor", Value::plain(ranks.tensor)},
         {"sharding", Value::words(shardings[static_cast<std::size_t>(ranks.sharding)])},
         {"recompute",
          Value::words(to_string(is_own ? job.stages[stage].recompute : job.recompute))},
         {"first_rank", Value::plain(first_rank(job, stage))},
         {"pass_ns", Value::time(plan.stage_ns[stage])},
         {"memory_bytes", Value::bytes(to_whole(plan.memory[stage].total()))}}));
  }
  return Value::list(std::move(list));
}

std::vector<Value> plan_cells(const StagedPlan& plan) {
  const Job& job = plan.scenario.job;
  return {Value::words(job.stages.empty() ? short_plan_text(job) : stages_text(job)),
          Value::plain(job.micro_batch),
          Value::plain(job.micro_batches()),
          Value::time(plan.step_ns),
          plan.bound_ns > 0 ? Value::time(plan.bound_ns) : Value::none(),
          utilization_value(plan.figures),
          Value::bytes(to_whole(plan.memory[plan.fullest].total())),
          Value::time(to_whole(plan.breakdown.bubble)),
          stage_list(plan)};
}

std::vector<Column> plan_columns() {
  return {{.key = "plan", .title = "layers and ranks of each stage", .is_prose = true},
          {"micro_batch", "micro"},
          {.key = "micro_batches", .title = "passes", .narrow = Narrow::left_out},
          {"step_ns", "step"},
          {.key = "bound_ns", .title = "bound", .narrow = Narrow::left_out},
          {"model_flops_utilization", "MFU"},
          {"memory_bytes", "memory"},
          {"bubble_ns", "", Show::never},
          {"stages", "", Show::never}};
}

}  // namespace

Sections stages_context(const StagesPart& part) {
  const StageAnswer& answer = part.answer;
  const Scenario& scenario = part.scenario;
  Section section{.key = "input", .path = "input", .headline = stages_headline(part)};
  section.fact("model", "model", Value::words(scenario.model->name));
  section.fact("cluster", "cluster",
               Value::words(scenario.cluster->name)
                   .as(fmt::format("{}: {}", scenario.cluster->name, scenario.cluster->machine)));
  section.fact("framework", "framework", Value::words(scenario.framework->name));
  section.fact("devices", "devices", Value::plain(answer.gpus));
  section.fact("global_batch", "batch",
               Value::plain(answer.global_batch).as(batch_text(scenario, answer.global_batch)));
  section.fact(
      "partitions", "tried",
      Value::count(answer.partitions)
          .as(fmt::format("{} best partitions into stages, of {} ways to run a part of {} units",
                          answer.partitions, answer.options, answer.units)));
  section.datum("options", Value::count(answer.options));
  section.datum("units", Value::plain(answer.units));
  section.line("scenario", part.written);
  return {std::move(section)};
}

Sections stages_of_best(const StagesPart& part) {
  Table table{.columns = {{"", "stage"},
                          {"", "layers"},
                          {"", "ranks"},
                          {"", "data"},
                          {"", "tensor"},
                          {"", "sharding"},
                          {"", "recompute"},
                          {"", "per micro-batch"},
                          {"", "memory"}}};
  Section section{.key = "best_stages", .title = "stages of the best plan"};
  if (part.answer.best.empty()) {
    section.show = Show::never;
    return {std::move(section)};
  }
  const StagedPlan& best = part.answer.best.front();
  const Job& job = best.scenario.job;
  for (std::uint32_t stage = 0; stage < job.stages.size(); ++stage) {
    const StageShare& share = job.stages[stage];
    table.add({Value::words(fmt::format("stage {}", stage)), Value::plain(share.layers),
               Value::plain(stage_ranks(job, stage)), Value::plain(share.data),
               Value::plain(share.tensor),
               Value::words(shardings[static_cast<std::size_t>(share.sharding)]),
               Value::words(to_string(share.recompute)), Value::time(best.stage_ns[stage]),
               Value::bytes(to_whole(best.memory[stage].total()))});
  }
  section.tables.push_back(std::move(table));
  return {std::move(section)};
}

Sections stages_best(const StagesPart& part) {
  const StageAnswer& answer = part.answer;
  Table table{.key = "plans", .columns = plan_columns()};
  for (const StagedPlan& plan : answer.best) table.add(plan_cells(plan));
  Section section{.key = "plans", .title = "the best plans", .tables = {std::move(table)}};
  if (!answer.best.empty()) section.scale_ns = answer.best.front().step_ns;
  section.note(
      "simulated in full; 7 dp 2 tp 4: 7 layers on 8 ranks; bound: sum of the stages + (passes - "
      "1) x the slowest, which the dynamic program minimizes, without transfers between stages; -: "
      "equal stages");
  if (answer.best.empty()) section.show = Show::never;
  Section even{.key = "even", .title = "the best plan of equal stages"};
  Table one{.key = "even", .columns = plan_columns()};
  one.columns.front().title = "plan";
  if (answer.even) one.add(plan_cells(*answer.even));
  even.tables.push_back(std::move(one));
  if (!answer.even) even.show = Show::never;
  return {std::move(section), std::move(even)};
}

}  // namespace foretrace::report::sections
