// Where the step of a scenario goes.
#include <algorithm>

#include <fmt/format.h>

#include "apps/report/pages.h"
#include "apps/report/sections/cluster/step_parts.h"
#include "apps/report/sections/parts.h"
#include "apps/report/text.h"
#include "sim/core/whole.h"

namespace foretrace::report::sections {

StepParts parts_of(const ScenarioPart& part) {
  const driver::ScenarioAnswer& answer = part.answer;
  StepParts parts;
  // One rank waits for no other, and ranks that happen to be fast make every part shorter.
  if (part.scenario.job.ranks() > 1) {
    parts.slower = static_cast<double>(std::max<std::int64_t>(0, answer.step_ns - answer.alike_ns));
  }
  if (answer.analytic.step_ns > 0) {
    parts.scale = (static_cast<double>(answer.step_ns) - parts.slower) /
                  static_cast<double>(answer.analytic.step_ns);
  }
  return parts;
}

namespace {

Section scenario_breakdown(const ScenarioPart& part) {
  const driver::ScenarioAnswer& answer = part.answer;
  const StepBreakdown& parts = answer.analytic.breakdown;
  const auto [scale, slower] = parts_of(part);
  const std::int64_t step = answer.step_ns;
  Table table{.columns = {{"part"}, {"time_ns", "time"}, {"share", "share"}}};
  const auto add = [&](const std::string& name, double ns) {
    if (ns < 0.5) return;
    table.add({Value::words(name), Value::time(to_whole(ns)),
               Value::part(ns / static_cast<double>(step))});
  };
  const auto row = [&add, factor = scale](const std::string& name, double ns) {
    add(name, ns * factor);
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
  row("waiting for the host", parts.host);
  row("pipeline bubble", parts.bubble);
  add("waiting for slower ranks", slower);
  Section section{.key = "breakdown",
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
  const driver::ScenarioAnswer& answer = part.answer;
  const StepBreakdown& parts = answer.analytic.breakdown;
  const double scale = parts_of(part).scale;
  const std::int64_t exposed_ns = to_whole(sum_of(parts.exposed) * scale);
  const std::int64_t host_ns = to_whole(parts.host * scale);
  const std::int64_t compute_ns =
      std::min<std::int64_t>(to_whole((parts.optimizer + sum_of(parts.computed)) * scale),
                             answer.step_ns - exposed_ns - host_ns);
  Section section{.key = "predicted_breakdown", .path = "predicted/breakdown", .show = Show::never};
  section.datum("host_bound_ns", Value::time(host_ns));
  section.datum("compute_ns", Value::time(compute_ns));
  section.datum("memory_copy_ns", Value::time(0));
  section.datum("communication_exposed_ns", Value::time(exposed_ns));
  section.datum("communication_waiting_ns", Value::time(0));
  section.datum("idle_ns", Value::time(answer.step_ns - compute_ns - exposed_ns - host_ns));
  return section;
}

}  // namespace

Sections scenario_breakdowns(const ScenarioPart& part) {
  return {scenario_breakdown(part), predicted_breakdown(part)};
}

}  // namespace foretrace::report::sections
