// A scenario instead of a trace: the step that is predicted, where it goes, and memory per stage.
#include "apps/report/pages/cluster/scenario.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "apps/plans/plan_search.h"
#include "apps/report/sections/cluster/step_parts.h"
#include "apps/report/sections/cluster/utilization.h"
#include "apps/report/sections/energy.h"
#include "apps/report/sections/parts.h"
#include "apps/report/text.h"
#include "models/hardware/execution/exec_model.h"
#include "models/jobs/program/stages.h"
#include "sim/core/whole.h"

namespace foretrace::report::sections {
namespace {

// The middle stages of a longer pipeline are alike.
constexpr std::size_t most_stages = 8;
constexpr std::size_t first_stages = 3;
constexpr std::size_t last_stages = 2;

/// What a step's batch consists of.
std::string_view counted_in(const Job& job) { return job.has_samples() ? "samples" : "tokens"; }

std::string batch_of_job_text(const Job& job) {
  if (job.has_samples()) return fmt::format("{} samples", job.global_batch);
  return job.pass == Pass::decode ? fmt::format("{} x 1 token after {}", job.global_batch, job.keys)
                                  : fmt::format("{} x {} tokens", job.global_batch, job.length);
}

std::string model_text(const ScenarioPart& part) {
  const Job& job = part.scenario.job;
  const std::string& name = part.scenario.model->product;
  if (job.model->is_recorded()) {
    const auto passes = job.micro_batches();
    return fmt::format("{}: {} recorded layers, {} pass{} per step", name, job.model->layers,
                       passes, passes == 1 ? "" : "es");
  }
  return fmt::format("{}: {:.1f} {} parameters, {}, micro-batch {}", name,
                     part.answer.parameters * (job.has_samples() ? 1e-6 : 1e-9),
                     job.has_samples() ? "million" : "billion", batch_of_job_text(job),
                     job.micro_batch);
}

/// Samples or tokens of a step.
double counted_per_step(const ScenarioPart& part) {
  return std::max(
      1.0, part.answer.figures.tokens_per_s * static_cast<double>(part.answer.step_ns) * 1e-9);
}

/// Of the slowest stage's device: large kernels fill it.
Result<std::optional<Energy>> energy_in(const ScenarioPart& part) {
  if (part.known == nullptr) return std::optional<Energy>{};
  FORETRACE_TRY(const auto power,
                board_power(*part.known, part.scenario.cluster->accelerator.name));
  if (!power.has_value()) return std::optional<Energy>{};
  const StepBreakdown parts = parts_of(part).parts;
  const double filled = sum_of(parts.computed) + parts.optimizer;
  return std::optional(energy_of(*power, part.answer.step_ns, filled));
}

/// What files say that has no counterpart here, or none in this job.
std::vector<std::string> notes_of(const Scenario& scenario) {
  std::vector<std::string> notes;
  const ExpertSpec& experts = scenario.model->transformer.experts;
  if (scenario.job.trains() && experts.count > 0 &&
      experts.load_exponent != ExpertSpec{}.load_exponent) {
    notes.push_back(
        fmt::format("{}: experts have equal loads, as training balances them; "
                    "load_exponent counts in inference",
                    scenario.model->name));
  }
  for (const std::string& note : scenario.model->notes) {
    notes.push_back(fmt::format("{}: {}", scenario.model->name, note));
  }
  for (const std::string& note : scenario.cluster->notes) {
    notes.push_back(fmt::format("{}: {}", scenario.cluster->name, note));
  }
  return notes;
}

/// Of a device with a memory for weights alone.
std::string too_small_text(const ScenarioAnswer& answer) {
  std::string text;
  for (const DeviceMemory& memory : answer.memories) {
    if (memory.fits()) continue;
    text += fmt::format("{}needs {} of {}, the device has {}", text.empty() ? "" : ", ",
                        bytes_text(to_whole(memory.need)), memory.name,
                        bytes_text(to_whole(memory.has)));
  }
  return fmt::format("does not fit: {}; {} per step if it fitted", text, time_text(answer.step_ns));
}

std::string scenario_headline(const ScenarioPart& part) {
  const ScenarioAnswer& answer = part.answer;
  if (!answer.fits && answer.memories.size() > 1) return too_small_text(answer);
  if (!answer.fits) {
    return fmt::format("does not fit: stage {} needs {}, a device has {}; {} per step if it fitted",
                       answer.fullest_stage, bytes_text(to_whole(answer.fullest().total())),
                       bytes_text(part.scenario.cluster->accelerator.memory_bytes),
                       time_text(answer.step_ns));
  }
  return fmt::format("{} per step ({}){}, {} {}/s on {} x {}", time_text(answer.step_ns),
                     time_range_text(answer.range.low_ns, answer.range.high_ns, answer.step_ns),
                     utilization_text(answer.figures), rate_text(answer.figures.tokens_per_s),
                     counted_in(part.scenario.job), count_text(part.scenario.job.ranks()),
                     part.scenario.cluster->accelerator.product);
}

/// Which sources the range comes from, the largest first.
std::string range_sources(const ScenarioAnswer& answer) {
  std::vector<std::pair<double, std::string>> sources;
  const auto step = static_cast<double>(answer.range.step_ns);
  for (std::size_t i = 0; i < cost_source_count; ++i) {
    const auto& [low, high] = answer.range.change[i];
    const double size = std::max(std::abs(low), std::abs(high));
    if (size < 0.002 * step) continue;
    sources.emplace_back(size, fmt::format("{} {} to {}", to_string(static_cast<CostSource>(i)),
                                           signed_percent_text(std::min(low, high) / step),
                                           signed_percent_text(std::max(low, high) / step)));
  }
  std::sort(sources.begin(), sources.end(),
            [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (const auto& [size, source] : sources) text += (text.empty() ? "" : "; ") + source;
  return text;
}

/// The same for documents, each as shares of the step.
Value range_shares(const ScenarioAnswer& answer) {
  const auto step = static_cast<double>(std::max<std::int64_t>(1, answer.range.step_ns));
  Value::Object sources;
  for (std::size_t i = 0; i < cost_source_count; ++i) {
    const auto& [low, high] = answer.range.change[i];
    sources.push_back({std::string(to_string(static_cast<CostSource>(i))),
                       Value::object({{"low", Value::change(std::min(low, high) / step)},
                                      {"high", Value::change(std::max(low, high) / step)}})});
  }
  return Value::object(std::move(sources));
}

std::string formula_text(const ScenarioPart& part) {
  const ScenarioAnswer& answer = part.answer;
  const std::string time = time_text(answer.analytic.step_ns, answer.step_ns);
  const bool has_formula = part.scenario.job.schedule->formula != nullptr;
  return fmt::format("{}: {}{}{}",
                     has_formula ? "of the schedule" : "no formula; from the order of passes", time,
                     answer.formula_is_exact() ? ", exactly the simulated step" : "",
                     answer.formula_is_exact() && part.scenario.jitter ? " without jitter" : "");
}

std::string jitter_text(const ScenarioPart& part) {
  const Jitter& jitter = *part.scenario.jitter;
  return fmt::format(
      "{} ranks one by one, {} tasks: ranks scatter by {}, passes by {} (seed {}); "
      "{} if all were alike",
      part.scenario.job.ranks(), count_text(part.answer.graph.size()), percent_text(jitter.ranks),
      percent_text(jitter.passes), jitter.seed,
      time_text(part.answer.alike_ns, part.answer.step_ns));
}

Section stage_memory(const ScenarioPart& part) {
  const ScenarioAnswer& answer = part.answer;
  const auto& stages = answer.analytic.memory;
  Table table{.name = "stages",
              .columns = {{"stage", "stage"},
                          {"weights_bytes", "weights"},
                          {"gradients_bytes", "gradients"},
                          {"optimizer_bytes", "optimizer"},
                          {"activations_bytes", "activations"},
                          {.key = "working_bytes", .title = "working", .narrow = Narrow::left_out},
                          {.key = "buffers_bytes", .title = "buffers", .narrow = Narrow::left_out},
                          {"total_bytes", "all"}}};
  const auto bytes = [](double value) { return Value::bytes(to_whole(value)); };
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const StageMemory& m = stages[i];
    const bool is_middle = stages.size() > most_stages && i >= first_stages &&
                           i + last_stages < stages.size() && i != answer.fullest_stage;
    table.rows.push_back(
        {.cells = {Value::words(std::to_string(i)).as(fmt::format("stage {}", i)), bytes(m.weights),
                   bytes(m.gradients), bytes(m.optimizer), bytes(m.activations), bytes(m.working),
                   bytes(m.buffers), bytes(m.total())},
         .show = is_middle ? Show::details : Show::always});
  }
  Section section{.key = "stages", .title = "memory of a rank", .tables = {std::move(table)}};
  // A recording without weights does not say what lies in memory.
  if (answer.fullest().total() == 0) section.show = Show::never;
  if (answer.memory_range) {
    const Ranged& factor = answer.memory_range->factor;
    section.notes.push_back(
        {.text = fmt::format("stage {} may need {} to {} ({})", answer.fullest_stage,
                             bytes_text(to_whole(answer.fullest().total() * factor.low)),
                             bytes_text(to_whole(answer.fullest().total() * factor.high)),
                             answer.memory_range->basis)});
  }
  if (!answer.fits && answer.memories.size() == 1) {
    section.notes.push_back(
        {.text = fmt::format("out of memory: stage {} needs {}, a device has {}",
                             answer.fullest_stage, bytes_text(to_whole(answer.fullest().total())),
                             bytes_text(part.scenario.job.cluster->accelerator.memory_bytes)),
         .warns = true});
  }
  return section;
}

Value memory_of_stages(const ScenarioAnswer& answer, const Job& job) {
  const auto bytes = [](double value) { return Value::bytes(to_whole(value)); };
  Value::Object stages;
  for (std::size_t stage = 0; stage < answer.analytic.memory.size(); ++stage) {
    const StageMemory& m = answer.analytic.memory[stage];
    stages.push_back(
        {fmt::format("{}/0", first_rank(job, static_cast<std::uint32_t>(stage))),
         Value::object({{"allocated_peak_bytes", bytes(m.total())},
                        {"allocated_before_bytes", bytes(m.weights + m.gradients + m.optimizer)},
                        {"reserved_expected_bytes", Value::none()},
                        {"reserved_low_bytes", Value::none()},
                        {"reserved_high_bytes", Value::none()},
                        {"reserved_recorded_bytes", Value::none()},
                        {"peak_at_ns", Value::time(0)},
                        {"at_peak_bytes", Value::object({{"weight", bytes(m.weights)},
                                                         {"gradient", bytes(m.gradients)},
                                                         {"optimizer_state", bytes(m.optimizer)},
                                                         {"activation", bytes(m.activations)},
                                                         {"workspace", bytes(m.working)},
                                                         {"communication", bytes(m.buffers)}})}})});
  }
  return Value::object(std::move(stages));
}

/// The step as predictions from traces have it.
Section predicted_step(const ScenarioPart& part) {
  const ScenarioAnswer& answer = part.answer;
  const Value step = Value::time(answer.step_ns);
  Section section{.key = "predicted", .path = "predicted", .show = Show::never};
  section.datum("step_ns", step);
  section.datum("low_ns", Value::time(answer.range.low_ns));
  section.datum("high_ns", Value::time(answer.range.high_ns));
  section.datum("host_period_ns", step);
  section.datum("device_period_ns", step);
  section.datum("limited_by", Value::words(answer.analytic.breakdown.host > 0 ? "host" : "device"));
  section.datum("step_is", Value::words("span"));
  section.datum("step_numbers", Value::numbers({}));
  section.datum("steps_ns", Value::numbers({answer.step_ns}));
  section.datum("device_periods_ns", Value::numbers({answer.step_ns}));
  section.datum("span_ns", step);
  return section;
}

Section predicted_rest(const ScenarioPart& part) {
  const ScenarioAnswer& answer = part.answer;
  const double all = sum_of(answer.analytic.by_provenance);
  Section section{.key = "predicted_rest", .path = "predicted", .show = Show::never};
  section.datum("communication_overlapped_ns",
                Value::time(to_whole(answer.analytic.overlapped_ns * parts_of(part).scale)));
  section.datum("free", Value::object({{"communication_transfer_ns", Value::none()},
                                       {"communication_waiting_ns", Value::none()}}));
  section.datum("provenance", by_name<Provenance>(answer.analytic.by_provenance, [all](double ns) {
                  return Value::share(all > 0 ? ns / all : 0);
                }));
  section.datum("memory", memory_of_stages(answer, part.scenario.job));
  return section;
}

/// Only there something else than the ranks of a node adds up.
bool gradients_leave_node(const Job& job) {
  return place(*job.cluster, axis_of(job.plan, Axis::data)).nodes > 1;
}

}  // namespace

Sections scenario_context(const ScenarioPart& part) {
  const Scenario& scenario = part.scenario;
  Section input{.key = "input", .path = "input", .show = Show::never};
  input.datum("path", Value::words(scenario.path));
  input.datum("format", Value::words("scenario"));
  input.datum("rank", Value::none());
  input.datum("world_size", Value::plain(scenario.job.ranks()));
  input.datum("resolution_ns", Value::plain(1));
  input.datum("devices", Value::list({}));
  input.datum("accelerator", Value::words(scenario.cluster->accelerator.name));
  Section rest{.key = "context", .show = Show::never};
  for (const char* const key : {"measured", "baseline", "honesty"}) rest.datum(key, Value::none());
  rest.datum("tasks", Value::count(part.answer.graph.size()));
  rest.datum("dependencies", Value::count(part.answer.graph.topology().dependency_count()));
  rest.datum("warnings", Value::texts(notes_of(scenario)));
  return {std::move(input), import_section({}), std::move(rest)};
}

Sections scenario_step(const ScenarioPart& part) {
  const Job& job = part.scenario.job;
  const ScenarioAnswer& answer = part.answer;
  Section section{.key = "scenario_step", .headline = scenario_headline(part)};
  section.line("model", model_text(part));
  section.line("plan", fmt::format("{}; {}; recomputation {}", plan_text(job), job.schedule->name,
                                   to_string(job.recompute)));
  section.line("on", fmt::format("{}; {}", part.scenario.cluster->machine,
                                 part.scenario.framework->product));
  if (const auto& machine = part.scenario.cluster->accelerator.exec_model; machine != nullptr) {
    section.line("machine", machine->text());
  }
  const bool leaves_node = gradients_leave_node(job);
  if (const auto& sums = part.scenario.cluster->network.aggregation;
      sums.trees > 0 && leaves_node) {
    section.line("switches",
                 fmt::format("add up between nodes in {} tree{}, {:.4g} GB/s a port", sums.trees,
                             sums.trees == 1 ? "" : "s", sums.port_rate * 1e-9));
  }
  if (const auto& sparse = job.sparse_gradients; sparse.has_value() && leaves_node) {
    constexpr std::array<std::string_view, 3> adders = {"servers", "switches", "all-gathers"};
    section.line("gradients",
                 fmt::format("{:.4g} of the blocks of {:.0f} numbers are not zero, {:.4g} of these "
                             "on every rank; {} add up between nodes",
                             sparse->blocks.density, sparse->blocks.numbers, sparse->blocks.overlap,
                             adders[static_cast<std::size_t>(sparse->method)]));
  }
  section.line("range from", range_sources(answer));
  if (!answer.range.basis.empty()) section.line("range based on", answer.range.basis);
  section.line("formula", formula_text(part));
  if (part.scenario.jitter) section.line("jitter", jitter_text(part));
  if (answer.figures.cost_per_million_tokens > 0) {
    section.line("cost", fmt::format("{:.2f} dollars per million {}",
                                     answer.figures.cost_per_million_tokens, counted_in(job)));
  }
  if (const auto energy = energy_in(part); !energy.ok()) {
    section.line("energy", energy_failure_text(energy.error()));
  } else if (*energy) {
    section.line("energy",
                 fmt::format("{}; {:.3g} J per {}", energy_text(**energy),
                             (*energy)->joules * job.ranks() / counted_per_step(part),
                             job.has_samples() ? "sample" : "token"),
                 Show::details);
  }
  section.line("timeline", part.timeline);
  for (const std::string& note : notes_of(part.scenario)) section.notes.push_back({.text = note});
  return {std::move(section), predicted_step(part)};
}

Sections scenario_memory(const ScenarioPart& part) {
  return {stage_memory(part), predicted_rest(part)};
}

Sections scenario_facts(const ScenarioPart& part) {
  const Job& job = part.scenario.job;
  const ScenarioAnswer& answer = part.answer;
  const auto ns = [](double value) { return Value::time(to_whole(value)); };
  const auto [parts, scale, slower] = parts_of(part);
  Value::Object exposed;
  for (std::size_t i = 0; i < axis_count; ++i) {
    exposed.push_back({std::string(to_string(static_cast<Axis>(i))), ns(parts.exposed[i])});
  }
  Section section{.key = "scenario", .path = "scenario", .show = Show::never};
  section.datum("model", Value::words(part.scenario.model->name));
  section.datum("parameters", Value::plain(answer.parameters));
  section.datum("cluster", Value::words(part.scenario.cluster->name));
  section.datum("cluster_is", Value::words(part.scenario.cluster->machine));
  section.datum("framework", Value::words(part.scenario.framework->name));
  section.datum("schedule", Value::words(job.schedule->name));
  section.datum("ranks", Value::plain(job.ranks()));
  section.datum("analytic_step_ns", Value::time(answer.analytic.step_ns));
  section.datum("analytic_is_exact",
                Value::flag(answer.formula_is_exact() && !part.scenario.jitter));
  if (part.scenario.jitter) {
    section.datum("jitter", Value::object({{"ranks", Value::plain(part.scenario.jitter->ranks)},
                                           {"passes", Value::plain(part.scenario.jitter->passes)},
                                           {"seed", Value::plain(static_cast<std::int64_t>(
                                                        part.scenario.jitter->seed))},
                                           {"step_alike_ns", Value::time(answer.alike_ns)}}));
  }
  section.datum(fmt::format("{}_per_s", counted_in(job)),
                Value::plain(answer.figures.tokens_per_s));
  section.datum("model_flops", Value::plain(answer.model_flops));
  section.datum("model_flops_utilization", utilization_value(answer.figures));
  section.datum(fmt::format("cost_per_million_{}", counted_in(job)),
                Value::plain(answer.figures.cost_per_million_tokens));
  if (const auto energy = energy_in(part); energy.ok() && energy->has_value()) {
    section.datum("energy", energy_value(**energy));
    section.datum(fmt::format("joules_per_{}", job.has_samples() ? "sample" : "token"),
                  Value::plain((*energy)->joules * job.ranks() / counted_per_step(part)));
  }
  section.datum("bubble_ns", ns(parts.bubble));
  section.datum("optimizer_ns", ns(parts.optimizer));
  section.datum("recompute_ns", ns(answer.analytic.again_ns * scale));
  section.datum("exposed_ns", Value::object(std::move(exposed)));
  section.datum("range_shares", range_shares(answer));
  section.datum("range_basis", Value::words(answer.range.basis));
  section.datum("fits", Value::flag(answer.fits));
  if (answer.memory_range) {
    const double most = answer.fullest().total();
    const Ranged& factor = answer.memory_range->factor;
    section.datum("memory_low_bytes", Value::bytes(to_whole(most * factor.low)));
    section.datum("memory_high_bytes", Value::bytes(to_whole(most * factor.high)));
    section.datum("memory_basis", Value::words(answer.memory_range->basis));
  }
  section.datum("device_memory_bytes",
                Value::bytes(part.scenario.cluster->accelerator.memory_bytes));
  return {std::move(section)};
}

}  // namespace foretrace::report::sections
