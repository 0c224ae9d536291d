// Where the step of a scenario goes.
#include <algorithm>

#include <fmt/format.h>

#include "apps/report/pages/cluster/scenario.h"
#include "apps/report/sections/cluster/step_parts.h"
#include "apps/report/sections/parts.h"
#include "apps/report/text.h"
#include "sim/core/whole.h"

namespace foretrace::report::sections {

StepParts parts_of(const ScenarioPart& part) {
  const ScenarioAnswer& answer = part.answer;
  StepParts step{.parts = answer.analytic.breakdown};
  // One rank waits for no other.
  if (part.scenario.job.ranks() > 1) {
    step.slower = static_cast<double>(std::max<std::int64_t>(0, answer.step_ns - answer.alike_ns));
  }
  StepBreakdown& parts = step.parts;
  const double whole = static_cast<double>(answer.step_ns) - step.slower;
  parts.bubble = 0;
  if (const double busy = parts.total(); busy > whole) step.scale = whole / busy;
  for (double& ns : parts.computed) ns *= step.scale;
  for (double& ns : parts.exposed) ns *= step.scale;
  parts.optimizer *= step.scale;
  parts.host *= step.scale;
  parts.bubble = std::max(0.0, whole - parts.total());
  return step;
}

namespace {

Section scenario_breakdown(const ScenarioPart& part) {
  const ScenarioAnswer& answer = part.answer;
  const auto [parts, scale, slower] = parts_of(part);
  const std::int64_t step = answer.step_ns;
  Table table{.key = "parts", .columns = {{"part"}, {"time_ns", "time"}, {"share", "share"}}};
  const auto row = [&](const std::string& name, double ns) {
    if (ns < 0.5) return;
    table.add({Value::words(name), Value::time(to_whole(ns)),
               Value::part(ns / static_cast<double>(step))});
  };
  row("matrix products", parts.computed[static_cast<std::size_t>(CostSource::product)]);
  row("attention", parts.computed[static_cast<std::size_t>(CostSource::attention)]);
  row("recorded layers", parts.computed[static_cast<std::size_t>(CostSource::recorded)]);
  row("operations number by number", parts.computed[static_cast<std::size_t>(CostSource::vector)]);
  row("start-up", parts.computed[static_cast<std::size_t>(CostSource::start)]);
  row("kernels bound by memory", parts.computed[static_cast<std::size_t>(CostSource::memory)]);
  for (std::size_t i = 0; i < axis_count; ++i) {
    row(fmt::format("exposed {} communication", to_string(static_cast<Axis>(i))), parts.exposed[i]);
  }
  row("optimizer", parts.optimizer);
  row("waiting for the CPU", parts.host);
  row("pipeline bubble", parts.bubble);
  row("waiting for slower ranks", slower);
  Section section{.key = "breakdown",
                  .path = "scenario",
                  .title = "where the step goes, on the slowest stage",
                  .tables = {std::move(table)},
                  .scale_ns = step};
  if (answer.analytic.again_ns > 0) {
    section.note(fmt::format("of it recomputation {}; {} of communication run beside kernels",
                             time_text(to_whole(answer.analytic.again_ns * scale), step),
                             time_text(to_whole(answer.analytic.overlapped_ns * scale), step)));
  }
  return section;
}

/// Parts in whole ns that sum to the step: what rounding leaves goes to idle, what it takes comes
/// from compute.
Section predicted_breakdown(const ScenarioPart& part) {
  const ScenarioAnswer& answer = part.answer;
  const auto [parts, scale, slower] = parts_of(part);
  const std::int64_t waiting_ns = to_whole(slower);
  const std::int64_t exposed_ns = to_whole(sum_of(parts.exposed));
  const std::int64_t host_ns = to_whole(parts.host);
  const std::int64_t compute_ns =
      std::min<std::int64_t>(to_whole(parts.optimizer + sum_of(parts.computed)),
                             answer.step_ns - exposed_ns - host_ns - waiting_ns);
  Section section{.key = "predicted_breakdown", .path = "predicted/breakdown", .show = Show::never};
  section.datum("host_bound_ns", Value::time(host_ns));
  section.datum("compute_ns", Value::time(compute_ns));
  section.datum("memory_copy_ns", Value::time(0));
  section.datum("communication_exposed_ns", Value::time(exposed_ns));
  section.datum("communication_waiting_ns", Value::time(waiting_ns));
  section.datum("idle_ns",
                Value::time(answer.step_ns - compute_ns - exposed_ns - host_ns - waiting_ns));
  return section;
}

}  // namespace

Sections scenario_breakdowns(const ScenarioPart& part) {
  return {scenario_breakdown(part), predicted_breakdown(part)};
}

}  // namespace foretrace::report::sections
