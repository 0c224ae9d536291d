// Plans of a model on a cluster: the best, why the others lose, and how they scale.
#include "apps/report/pages/cluster/plan.h"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/plans/plan_search.h"
#include "apps/report/sections/cluster/utilization.h"
#include "apps/report/text.h"
#include "sim/core/whole.h"

namespace foretrace::report::sections {
namespace {

/// Losing grids that a page shows, and a short one.
constexpr std::size_t most_losing = 40;
constexpr std::size_t brief_losing = 8;

/// With one number of devices its answer, else that of the most.
const PlanAnswer& shown(const PlansPart& part) { return part.strong.back(); }

bool has_samples(const Scenario& scenario) {
  return scenario.model->transformer.layered != nullptr;
}

Value cost_value(double dollars) {
  return dollars > 0 ? Value::plain(dollars).as(fmt::format("${:.3g}", dollars)) : Value::none();
}

/// Collectives that a step waits for, by group.
Value exposed_value(const StepBreakdown& parts) {
  Value::Object exposed;
  for (std::size_t i = 0; i < axis_count; ++i) {
    exposed.push_back(
        {std::string(to_string(static_cast<Axis>(i))), Value::time(to_whole(parts.exposed[i]))});
  }
  return Value::object(std::move(exposed));
}

Value memory_end(double bytes) { return bytes > 0 ? Value::bytes(to_whole(bytes)) : Value::none(); }

std::vector<Value> choice_cells(const PlanChoice& choice) {
  const Job& job = choice.job;
  return {Value::words(short_plan_text(job)),
          Value::plain(job.micro_batch),
          Value::words(to_string(job.recompute)),
          Value::time(choice.step_ns),
          Value::time(choice.formula_ns),
          choice.low_ns > 0 ? Value::time(choice.low_ns) : Value::none(),
          choice.low_ns > 0 ? Value::time(choice.high_ns) : Value::none(),
          utilization_value(choice.figures),
          Value::plain(choice.figures.tokens_per_s).as(rate_text(choice.figures.tokens_per_s)),
          cost_value(choice.figures.cost_per_million_tokens),
          Value::bytes(to_whole(choice.memory_bytes)),
          memory_end(choice.memory_low),
          memory_end(choice.memory_high),
          exposed_value(choice.breakdown),
          Value::time(to_whole(choice.breakdown.bubble)),
          Value::time(to_whole(choice.breakdown.optimizer)),
          Value::time(to_whole(choice.again_ns))};
}

/// Of samples where the model is one of layers.
std::vector<Column> choice_columns(bool of_samples) {
  return {{"plan", "plan"},
          {"micro_batch", "micro"},
          {"recompute", "recompute"},
          {"step_ns", "step"},
          {"formula_ns", "formula", Show::details},
          {"low_ns", "low", Show::details},
          {"high_ns", "high", Show::details},
          {"model_flops_utilization", "MFU"},
          {.key = of_samples ? "samples_per_s" : "tokens_per_s",
           .title = of_samples ? "samples/s" : "tokens/s",
           .narrow = Narrow::left_out},
          {.key = of_samples ? "cost_per_million_samples" : "cost_per_million_tokens",
           .title = of_samples ? "per M samples" : "per M tokens",
           .narrow = Narrow::left_out},
          {"memory_bytes", "memory"},
          {"memory_low_bytes", "from", Show::details},
          {"memory_high_bytes", "to", Show::details},
          {"exposed_ns", "", Show::never},
          {"bubble_ns", "", Show::never},
          {"optimizer_ns", "", Show::never},
          {"recompute_ns", "", Show::never}};
}

/// Shares of the step on the slowest stage; what no plan spends time on is left out.
Section plan_parts(const PlanAnswer& answer) {
  struct PartOfStep {
    std::string title;
    std::function<double(const StepBreakdown&)> ns;
  };
  std::vector<PartOfStep> parts = {{"kernels", [](const StepBreakdown& step) {
                                      double sum = 0;
                                      for (const double ns : step.computed) sum += ns;
                                      return sum;
                                    }}};
  for (std::size_t i = 0; i < axis_count; ++i) {
    parts.push_back({std::string(to_string(static_cast<Axis>(i))),
                     [i](const StepBreakdown& step) { return step.exposed[i]; }});
  }
  parts.push_back({"bubble", [](const StepBreakdown& step) { return step.bubble; }});
  parts.push_back({"optimizer", [](const StepBreakdown& step) { return step.optimizer; }});
  parts.push_back({"host", [](const StepBreakdown& step) { return step.host; }});
  std::erase_if(parts, [&answer](const PartOfStep& part) {
    return std::none_of(answer.best.begin(), answer.best.end(), [&part](const PlanChoice& choice) {
      return part.ns(choice.breakdown) >= 0.5;
    });
  });
  Table table{.columns = {{"", "plan"}}};
  for (const PartOfStep& part : parts) table.columns.push_back({"", part.title});
  for (const PlanChoice& choice : answer.best) {
    std::vector<Value> cells = {Value::words(short_plan_text(choice.job))};
    for (const PartOfStep& part : parts) {
      cells.push_back(Value::share(std::max(0.0, part.ns(choice.breakdown)) /
                                   static_cast<double>(choice.step_ns)));
    }
    table.add(std::move(cells));
  }
  Section section{.key = "parts",
                  .title = "where their steps go, on the slowest stage",
                  .tables = {std::move(table)}};
  section.note("data, tensor, ...: collectives of that group that nothing hides");
  if (answer.best.empty() || parts.empty()) section.show = Show::never;
  return section;
}

/// Also what the model would take, where sequences are shorter.
std::string batch_of(const PlanAnswer& answer, const Scenario& scenario) {
  const double most = scenario.model->transformer.positions;
  std::string text = batch_text(scenario, answer.global_batch);
  if (scenario.job.length < most) text += fmt::format("; the model takes up to {:.0f}", most);
  return text;
}

/// "; may not fit: 40.7 GiB to 126.1 GiB of 80.0 GiB per device".
std::string memory_doubt(const PlanChoice& choice) {
  const std::int64_t has = choice.job.cluster->accelerator.memory_bytes;
  if (choice.memory_high <= static_cast<double>(has)) return {};
  return fmt::format("; may not fit: {} to {} of {} per device",
                     bytes_text(to_whole(choice.memory_low)),
                     bytes_text(to_whole(choice.memory_high)), bytes_text(has));
}

/// "; the range is that of a new framework: accelerator a100_sxm_80gb not measured, ...".
std::string evidence_doubt(const PlanAnswer& answer) {
  if (answer.range_basis.empty() || answer.is_measured) return {};
  return fmt::format("; the range is that of a new framework: {}", answer.range_basis);
}

std::string plans_headline(const PlanAnswer& answer, const Scenario& scenario) {
  if (answer.best.empty()) {
    return fmt::format("nothing fits: all {} plans of {} for {} on {} need more than {} per device",
                       count_text(answer.tried), scenario.model->name,
                       batch_text(scenario, answer.global_batch), plural(answer.gpus, "device"),
                       bytes_text(scenario.cluster->accelerator.memory_bytes));
  }
  const PlanChoice& best = answer.best.front();
  return fmt::format("{} per step of {} ({}){} with {}, micro-batch {}, recomputation {}{}{}",
                     time_text(best.step_ns), batch_text(scenario, answer.global_batch),
                     time_range_text(best.low_ns, best.high_ns, best.step_ns),
                     utilization_text(best.figures), plan_text(best.job), best.job.micro_batch,
                     to_string(best.recompute), memory_doubt(best), evidence_doubt(answer));
}

}  // namespace

Sections plan_context(const PlansPart& part) {
  const PlanAnswer& answer = shown(part);
  const Scenario& scenario = part.scenario;
  Section section{.key = "input", .path = "input", .headline = plans_headline(answer, scenario)};
  section.fact("model", "model", Value::words(scenario.model->name));
  section.fact("cluster", "cluster",
               Value::words(scenario.cluster->name)
                   .as(fmt::format("{}: {}", scenario.cluster->name, scenario.cluster->machine)));
  section.fact("framework", "framework", Value::words(scenario.framework->name));
  if (!answer.range_basis.empty()) {
    section.fact("range_basis", "range based on", Value::words(answer.range_basis));
    section.datum("is_measured", Value::flag(answer.is_measured));
    const auto& names = answer.measured_frameworks;
    if (!answer.is_measured && !names.empty()) {
      section.line("measured here", fmt::format("{}", fmt::join(names, ", ")));
    }
    section.datum("measured_frameworks", Value::texts(names));
  }
  if (!scenario.what_ifs.empty()) {
    section.fact("what_ifs", "what-ifs", Value::words(scenario.what_ifs));
  }
  const Precision precision = scenario.job.precisions.activations;
  if (precision != Precision::bf16) section.line("precision", std::string(to_string(precision)));
  section.fact("devices", "devices", Value::plain(answer.gpus));
  section.fact("global_batch", "batch",
               Value::plain(answer.global_batch).as(batch_of(answer, scenario)));
  section.fact("tried", "tried",
               Value::count(answer.tried)
                   .as(fmt::format("{} plans, {} simulated; {} do not fit into {} per device",
                                   count_text(answer.tried), count_text(answer.simulated),
                                   count_text(answer.too_large),
                                   bytes_text(scenario.cluster->accelerator.memory_bytes))));
  section.datum("simulated", Value::count(answer.simulated));
  section.datum("too_large", Value::count(answer.too_large));
  return {std::move(section)};
}

Sections plan_best(const PlansPart& part) {
  const PlanAnswer& answer = shown(part);
  Table table{.key = "plans", .columns = choice_columns(has_samples(part.scenario))};
  for (const PlanChoice& choice : answer.best) table.add(choice_cells(choice));
  Section section{.key = "plans", .title = "the best plans", .tables = {std::move(table)}};
  if (answer.best.empty()) {
    section.show = Show::never;
  } else {
    section.scale_ns = answer.best.front().step_ns;
    section.note(
        "steps are simulated; formulas choose the plan of each grid of ranks that may be fastest; "
        "dp, tp, pp, cp, ep: data, tensor, pipeline, context and expert parallel; pp 8x6: 8 stages "
        "of 6 chunks each (interleaved); zero 1 shards optimizer states, zero 3 also parameters");
    const PlanChoice& best = answer.best.front();
    if (best.memory_high > 0) {
      section.note(fmt::format("memory: a rank may need {:.2f} to {:.2f} times as much",
                               best.memory_low / best.memory_bytes,
                               best.memory_high / best.memory_bytes));
    }
  }
  return {std::move(section), plan_parts(answer)};
}

Sections plan_losing(const PlansPart& part) {
  const PlanAnswer& answer = shown(part);
  Table table{.key = "losing",
              .columns = {{"plan", "plan"},
                          {"step_ns", "step"},
                          {"slower", "slower"},
                          {"memory_bytes", "memory"},
                          {"fits", "", Show::never},
                          {"why", "why", Show::always, false, 0, true}},
              .longest = most_losing,
              .brief = brief_losing};
  const std::int64_t best = answer.best.empty() ? 0 : answer.best.front().step_ns;
  for (const LosingGrid& grid : answer.losing) {
    const auto slower =
        best > 0 ? static_cast<double>(grid.choice.step_ns) / static_cast<double>(best) - 1 : 0;
    table.add({Value::words(short_plan_text(grid.choice.job)), Value::time(grid.choice.step_ns),
               grid.fits && best > 0 ? Value::change(slower) : Value::none(),
               Value::bytes(to_whole(grid.choice.memory_bytes)), Value::flag(grid.fits),
               Value::words(grid.why)});
  }
  Section section{.key = "losing", .title = "why the others lose", .tables = {std::move(table)}};
  section.scale_ns = best;
  if (answer.losing.empty()) section.show = Show::never;
  return {std::move(section)};
}

Sections plan_scaling(const PlansPart& part) {
  const bool of_samples = has_samples(part.scenario);
  Table table{.key = "scaling",
              .columns = {{"devices", "devices"},
                          {"kind", "kind"},
                          {"global_batch", "batch"},
                          {"plan", "best plan"},
                          {"step_ns", "step"},
                          {"model_flops_utilization", "MFU"},
                          {of_samples ? "samples_per_s" : "tokens_per_s",
                           of_samples ? "samples/s" : "tokens/s"},
                          {"efficiency", "efficiency"}}};
  const auto add = [&table](std::span<const PlanAnswer> answers, std::string_view kind) {
    double per_device = 0;  // tokens per second and device of the first that runs
    for (const PlanAnswer& answer : answers) {
      if (answer.best.empty()) {
        table.add({Value::plain(answer.gpus), Value::words(kind), Value::plain(answer.global_batch),
                   Value::words("nothing fits"), Value::none(), Value::none(), Value::none(),
                   Value::none()});
        continue;
      }
      const PlanChoice& best = answer.best.front();
      const double own = best.figures.tokens_per_s / answer.gpus;
      if (per_device == 0) per_device = own;
      table.add({Value::plain(answer.gpus), Value::words(kind), Value::plain(answer.global_batch),
                 Value::words(short_plan_text(best.job)), Value::time(best.step_ns),
                 utilization_value(best.figures),
                 Value::plain(best.figures.tokens_per_s).as(rate_text(best.figures.tokens_per_s)),
                 Value::share(own / per_device)});
    }
  };
  add(part.strong, "strong");
  add(part.weak, "weak");
  Section section{.key = "scaling", .title = "scaling, devices", .tables = {std::move(table)}};
  section.note(fmt::format(
      "strong: one batch for all; weak: one batch per device; efficiency: {} per second "
      "and device against the fewest devices",
      of_samples ? "samples" : "tokens"));
  if (part.strong.size() < 2) section.show = Show::never;
  return {std::move(section)};
}

}  // namespace foretrace::report::sections
