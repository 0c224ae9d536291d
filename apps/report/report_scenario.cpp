#include "apps/report/report_scenario.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/report/text.h"

namespace foretrace::app {
namespace {

using driver::Scenario;
using driver::ScenarioAnswer;

std::string plan_text(const Job& job) {
  const ParallelPlan& plan = job.plan;
  std::string text = fmt::format("data {}", plan.data);
  const auto add = [&text](std::string_view name, std::uint32_t size) {
    if (size > 1) text += fmt::format(", {} {}", name, size);
  };
  add("tensor", plan.tensor);
  if (plan.sequence) text += " with sequence";
  add("pipeline", plan.pipeline);
  if (job.chunks > 1) text += fmt::format(" in {} chunks", job.chunks);
  add("context", plan.context);
  add("expert", plan.expert);
  switch (plan.sharding) {
    case Sharding::none: break;
    case Sharding::optimizer: text += ", sharded optimizer"; break;
    case Sharding::gradients: text += ", sharded gradients"; break;
    case Sharding::parameters: text += ", sharded parameters"; break;
  }
  return text;
}

std::string ns_text(double ns, std::int64_t scale) { return time_text(std::llround(ns), scale); }

std::string breakdown_table(const ScenarioAnswer& answer) {
  using Align = Table::Align;
  const StepBreakdown& parts = answer.analytic.breakdown;
  const std::int64_t step = answer.analytic.step_ns;
  Table table({Align::left, Align::right, Align::right});
  const auto row = [&](const std::string& name, double ns) {
    if (ns < 0.5) return;
    table.row({name, ns_text(ns, step), percent_text(ns / static_cast<double>(step))});
  };
  row("matrix products", parts.computed[static_cast<std::size_t>(CostSource::product)]);
  row("attention", parts.computed[static_cast<std::size_t>(CostSource::attention)]);
  row("kernels bound by memory", parts.computed[static_cast<std::size_t>(CostSource::memory)]);
  for (std::size_t i = 0; i < axis_count; ++i) {
    row(fmt::format("exposed {} communication", to_string(static_cast<Axis>(i))), parts.exposed[i]);
  }
  row("optimizer", parts.optimizer);
  row("waiting for the host", parts.host);
  row("pipeline bubble", parts.bubble);
  return table.text(2);
}

std::string memory_table(const Scenario& scenario, const ScenarioAnswer& answer) {
  using Align = Table::Align;
  Table table({Align::left, Align::right, Align::right, Align::right, Align::right, Align::right,
               Align::right, Align::right});
  table.row(
      {"stage", "weights", "gradients", "optimizer", "activations", "working", "buffers", "all"});
  const auto bytes = [](double value) { return bytes_text(std::llround(value)); };
  const auto& stages = answer.analytic.memory;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    // The middle of a long pipeline is alike.
    if (stages.size() > 8 && i >= 3 && i + 2 < stages.size() && i != answer.fullest_stage) continue;
    const StageMemory& m = stages[i];
    table.row({fmt::format("{}", i), bytes(m.weights), bytes(m.gradients), bytes(m.optimizer),
               bytes(m.activations), bytes(m.working), bytes(m.buffers), bytes(m.total())});
  }
  const std::int64_t device = scenario.job.cluster->accelerator.memory_bytes;
  return table.text(2) + (answer.fits
                              ? ""
                              : fmt::format("  out of memory: stage {} needs {}, a device has {}\n",
                                            answer.fullest_stage, bytes(answer.fullest().total()),
                                            bytes_text(device)));
}

// Which sources the range comes from, the largest first.
std::string range_text(const ScenarioAnswer& answer) {
  std::vector<std::pair<double, std::string>> parts;
  const auto step = static_cast<double>(answer.range.step_ns);
  for (std::size_t i = 0; i < cost_source_count; ++i) {
    const auto& [low, high] = answer.range.change[i];
    const double size = std::max(std::abs(low), std::abs(high));
    if (size < 0.002 * step) continue;
    parts.emplace_back(size, fmt::format("{} {} to {}", to_string(static_cast<CostSource>(i)),
                                         signed_percent_text(std::min(low, high) / step),
                                         signed_percent_text(std::max(low, high) / step)));
  }
  std::sort(parts.begin(), parts.end(),
            [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (const auto& [size, part] : parts) text += (text.empty() ? "" : "; ") + part;
  return text.empty() ? "" : paragraph("  the range comes from ", text);
}

nlohmann::ordered_json steps_json(const ScenarioAnswer& answer) {
  using Json = nlohmann::ordered_json;
  return {{"step_ns", answer.step_ns},
          {"low_ns", answer.range.low_ns},
          {"high_ns", answer.range.high_ns},
          {"host_period_ns", answer.step_ns},
          {"device_period_ns", answer.step_ns},
          {"limited_by", answer.analytic.breakdown.host > 0 ? "host" : "device"},
          {"step_is", "span"},
          {"step_numbers", Json::array()},
          {"steps_ns", Json::array({answer.step_ns})},
          {"device_periods_ns", Json::array({answer.step_ns})},
          {"span_ns", answer.step_ns}};
}

// Parts in whole ns that sum to the step: what rounding leaves goes to idle.
nlohmann::ordered_json breakdown_json(const ScenarioAnswer& answer) {
  const StepBreakdown& parts = answer.analytic.breakdown;
  double computed = parts.optimizer;
  for (const double ns : parts.computed) computed += ns;
  double exposed = 0;
  for (const double ns : parts.exposed) exposed += ns;
  const std::int64_t compute_ns = std::llround(computed);
  const std::int64_t exposed_ns = std::llround(exposed);
  const std::int64_t host_ns = std::llround(parts.host);
  return {{"host_bound_ns", host_ns},
          {"compute_ns", compute_ns},
          {"memory_copy_ns", 0},
          {"communication_exposed_ns", exposed_ns},
          {"communication_waiting_ns", 0},
          {"idle_ns", answer.step_ns - compute_ns - exposed_ns - host_ns}};
}

nlohmann::ordered_json provenance_json(const ScenarioAnswer& answer) {
  double sum = 0;
  for (const double ns : answer.analytic.by_provenance) sum += ns;
  auto json = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < provenance_count; ++i) {
    const double share = sum > 0 ? answer.analytic.by_provenance[i] / sum : 0;
    if (share > 0) json[std::string(to_string(static_cast<Provenance>(i)))] = share;
  }
  return json;
}

nlohmann::ordered_json memory_json(const ScenarioAnswer& answer, std::uint32_t ranks_per_stage) {
  using Json = nlohmann::ordered_json;
  Json json = Json::object();
  for (std::size_t stage = 0; stage < answer.analytic.memory.size(); ++stage) {
    const StageMemory& m = answer.analytic.memory[stage];
    const std::int64_t all = std::llround(m.total());
    json[fmt::format("{}/0", stage * ranks_per_stage)] = {
        {"allocated_peak_bytes", all},
        {"allocated_before_bytes", std::llround(m.weights + m.gradients + m.optimizer)},
        {"reserved_expected_bytes", nullptr},
        {"reserved_low_bytes", nullptr},
        {"reserved_high_bytes", nullptr},
        {"reserved_recorded_bytes", nullptr},
        {"peak_at_ns", 0},
        {"at_peak_bytes", Json{{"weight", std::llround(m.weights)},
                               {"gradient", std::llround(m.gradients)},
                               {"optimizer_state", std::llround(m.optimizer)},
                               {"activation", std::llround(m.activations)},
                               {"workspace", std::llround(m.working)},
                               {"communication", std::llround(m.buffers)}}}};
  }
  return json;
}

nlohmann::ordered_json scenario_facts(const Scenario& scenario, const ScenarioAnswer& answer) {
  using Json = nlohmann::ordered_json;
  const Job& job = scenario.job;
  Json exposed = Json::object();
  for (std::size_t i = 0; i < axis_count; ++i) {
    exposed[std::string(to_string(static_cast<Axis>(i)))] =
        std::llround(answer.analytic.breakdown.exposed[i]);
  }
  return {{"model", scenario.model->name},
          {"parameters", answer.parameters},
          {"cluster", scenario.cluster->name},
          {"framework", scenario.framework->name},
          {"schedule", std::string(job.schedule->name)},
          {"ranks", job.plan.ranks()},
          {"analytic_step_ns", answer.analytic.step_ns},
          {"analytic_is_exact", answer.analytic.is_exact},
          {"tokens_per_s", answer.tokens_per_s},
          {"model_flops", answer.model_flops},
          {"model_flops_utilization", answer.flops_utilization},
          {"cost_per_million_tokens", answer.cost_per_million_tokens},
          {"bubble_ns", std::llround(answer.analytic.breakdown.bubble)},
          {"optimizer_ns", std::llround(answer.analytic.breakdown.optimizer)},
          {"recompute_ns", std::llround(answer.analytic.again_ns)},
          {"exposed_ns", std::move(exposed)},
          {"fits", answer.fits}};
}

}  // namespace

std::string scenario_headline(const Scenario& scenario, const ScenarioAnswer& answer) {
  return fmt::format("{} per step ({}), MFU {}, {} tokens/s on {} x {}\n",
                     time_text(answer.step_ns),
                     time_range_text(answer.range.low_ns, answer.range.high_ns, answer.step_ns),
                     percent_text(answer.flops_utilization),
                     count_text(static_cast<std::uint64_t>(answer.tokens_per_s)),
                     scenario.job.plan.ranks(), scenario.cluster->accelerator.product);
}

std::string scenario_page(const Scenario& scenario, const ScenarioAnswer& answer) {
  const Job& job = scenario.job;
  std::string text = scenario_headline(scenario, answer);
  text += fmt::format("\n{}: {:.1f} billion parameters, {} x {} tokens, micro-batch {}\n",
                      scenario.model->product, answer.parameters * 1e-9, job.global_batch,
                      job.length, job.micro_batch);
  text += paragraph("plan: ", fmt::format("{}; {}; recomputation {}", plan_text(job),
                                          job.schedule->name, to_string(job.recompute)));
  text += paragraph("on: ",
                    fmt::format("{}; {}", scenario.cluster->machine, scenario.framework->product));
  text += fmt::format("\nwhere the step goes, on the slowest stage\n{}", breakdown_table(answer));
  if (answer.analytic.again_ns > 0) {
    text += fmt::format("  of it recomputation {}; {} of communication run beside kernels\n",
                        ns_text(answer.analytic.again_ns, answer.step_ns),
                        ns_text(answer.analytic.overlapped_ns, answer.step_ns));
  }
  text += range_text(answer);
  text += fmt::format("\nmemory of a rank\n{}", memory_table(scenario, answer));
  text += fmt::format("\nthe formula of the schedule gives {}{}\n",
                      time_text(answer.analytic.step_ns, answer.step_ns),
                      answer.analytic.is_exact ? ", exactly the simulated step" : "");
  if (answer.cost_per_million_tokens > 0) {
    text += fmt::format("{:.2f} dollars per million tokens\n", answer.cost_per_million_tokens);
  }
  return text;
}

nlohmann::ordered_json scenario_document(const Scenario& scenario, const ScenarioAnswer& answer) {
  using Json = nlohmann::ordered_json;
  const std::uint32_t ranks = scenario.job.plan.ranks();
  Json predicted = steps_json(answer);
  predicted["breakdown"] = breakdown_json(answer);
  predicted["communication_overlapped_ns"] = std::llround(answer.analytic.overlapped_ns);
  predicted["free"] = {{"communication_transfer_ns", nullptr},
                       {"communication_waiting_ns", nullptr}};
  predicted["provenance"] = provenance_json(answer);
  predicted["memory"] = memory_json(answer, ranks / scenario.job.plan.pipeline);
  Json input = {{"path", scenario.path},
                {"format", "scenario"},
                {"rank", nullptr},
                {"world_size", ranks},
                {"resolution_ns", 1},
                {"devices", Json::array()},
                {"accelerator", scenario.cluster->accelerator.name}};
  Json import = {{"events", 0},
                 {"kept", 0},
                 {"dropped", 0},
                 {"repaired", 0},
                 {"bytes", 0},
                 {"reasons", Json::array()},
                 {"warnings", Json::array()}};
  return {{"schema", "foretrace.result/1"},
          {"input", std::move(input)},
          {"import", std::move(import)},
          {"measured", nullptr},
          {"baseline", nullptr},
          {"predicted", std::move(predicted)},
          {"scenario", scenario_facts(scenario, answer)},
          {"tasks", answer.graph.size()},
          {"dependencies", answer.graph.topology().dependency_count()},
          {"honesty", nullptr},
          {"warnings", Json::array()}};
}

}  // namespace foretrace::app
