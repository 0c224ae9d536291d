// foretrace simulate: replays a trace and says how far the simulation is from it; or simulates what
// a file holds that was never recorded.
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "apps/cli/arguments/command.h"
#include "apps/cli/arguments/help.h"
#include "apps/cli/names/configs.h"
#include "apps/cli/options.h"
#include "apps/cli/other_pages.h"
#include "apps/cli/output/answers.h"
#include "apps/cli/output/busy.h"
#include "apps/cli/output/console.h"
#include "apps/cli/output/pictures.h"
#include "apps/cli/output/timelines.h"
#include "apps/extras/file_kinds.h"
#include "apps/plans/time_to_train.h"
#include "apps/questions/memory/memory_budget.h"
#include "apps/report/pages/cluster/node_job.h"
#include "apps/report/pages/cluster/scenario.h"
#include "apps/report/pages/cluster/training.h"
#include "apps/report/pages/result.h"
#include "apps/session/load_run.h"
#include "apps/session/nodes/node_answer.h"
#include "apps/session/scenario/trace_scenario.h"
#include "models/jobs/figures/scenario_answer.h"
#include "sim/result/export/chrome_trace.h"

namespace foretrace::commands::simulate_parts {
namespace {

struct Options {
  app::CommonOptions common;
  app::TraceOptions trace;
  app::BudgetOptions budget;
  std::string timeline;
  app::PictureOptions pictures;
};

app::Exit run_in_budget(const Options& options, const Session& session, BudgetQuestion question) {
  FORETRACE_TRY(count_overhead(session, question));
  const Result<BudgetAnswer> answer =
      app::while_busy(options.common, "running within the budget",
                      [&] { return run_in_budget(session.graph(), question, session.options()); });
  FORETRACE_TRY(answer);
  const std::array<app::BudgetView, 1> views = {{{"", *answer}}};
  FORETRACE_TRY(const bool drawn, app::write_budget_timeline(options.timeline, views));
  return app::answer(
      report::result_page({.session = session,
                           .baseline_budget = &*answer,
                           .timeline = drawn ? std::string_view(options.timeline) : ""}),
      options.common, answer->fits ? app::exit_done : app::exit_answer_is_no);
}

std::array<std::string, 3> outputs_of(const Options& options) {
  return {options.timeline, options.pictures.timeline, options.pictures.memory};
}

/// What is asked of a recording cannot be asked of what was never recorded.
Status check_not_recorded(const Options& options, std::string_view why = "a scenario has none") {
  const app::TraceOptions none;
  const app::TraceOptions& trace = options.trace;
  const std::pair<bool, std::string_view> given[] = {
      {trace.strict, "--strict"},
      {trace.no_recorded_latency, "--no-recorded-latency"},
      {trace.without_one_off, "--without-one-off"},
      {!trace.unprofiled_step.empty(), "--unprofiled-step"},
      {trace.step != none.step, "--step"},
      {trace.engine != none.engine, "--engine"},
      {!trace.compute_rate.empty(), "--compute-rate"},
      {!trace.memory_bandwidth.empty(), "--memory-bandwidth"},
      {!trace.network_bandwidth.empty(), "--network-bandwidth"},
      {!options.budget.size.empty(), "--memory-budget"},
      {!options.budget.when_full.empty(), "--when-full"},
      {!options.pictures.timeline.empty(), "--svg"},
      {!options.pictures.memory.empty(), "--memory-svg"}};
  for (const auto& [is_given, name] : given) {
    if (is_given) {
      return Error{ErrorCode::bad_usage,
                   fmt::format("simulate: {} applies to a recording; {}", name, why)};
    }
  }
  return ok_status();
}

/// A recorded run as the workload: the what-if that spreads it, answered as `whatif` does.
app::Exit run_trace_scenario(const Options& options, const Catalogue& catalogue,
                             const TraceScenario& scenario) {
  app::TraceOptions trace;
  trace.paths = {scenario.trace};
  FORETRACE_TRY(app::check_outputs(outputs_of(options), trace.paths));
  FORETRACE_TRY(const auto session, app::open_session(trace, options.common));
  FORETRACE_TRY(const auto stack, spread_stack(session.recording(), catalogue, scenario));
  FORETRACE_TRY(const auto answer, session.ask(stack));
  FORETRACE_TRY(app::write_timeline(options.timeline, session, &answer));
  return app::answer(
      report::result_page({.session = session, .predicted = &answer, .timeline = options.timeline}),
      options.common, answer.fits() ? app::exit_done : app::exit_answer_is_no);
}

/// A model with what-ifs of its own: the step without them beside the step with them.
app::Exit run_changed_scenario(const Options& options, const CataloguePtr& known,
                               const Scenario& scenario) {
  FORETRACE_TRY(const auto answer, app::while_busy(options.common, "simulating the step", [&] {
                  return answer_what_ifs(scenario, known);
                }));
  FORETRACE_TRY(app::write_timeline(options.timeline, answer.session(), &answer));
  return app::answer(
      report::result_page(
          {.session = answer.session(), .predicted = &answer, .timeline = options.timeline}),
      options.common, answer.fits() ? app::exit_done : app::exit_answer_is_no);
}

/// Execution traces of all ranks as the workload.
app::Exit run_node_scenario(const Options& options, const NodeScenario& scenario) {
  FORETRACE_TRY(app::check_outputs(outputs_of(options), scenario.traces));
  FORETRACE_TRY(const auto answer, app::while_busy(options.common, "simulating the ranks",
                                                   [&] { return answer_nodes(scenario); }));
  const std::array<ChromeTraceView, 1> views = {{{"", answer.graph, answer.run.timeline}}};
  FORETRACE_TRY(app::write_timeline(options.timeline, views));
  return app::answer(report::node_job_page({scenario, answer, options.timeline}), options.common);
}

app::Exit run_scenario(const Options& options, const std::string& path) {
  FORETRACE_TRY(check_not_recorded(options));
  FORETRACE_TRY(const CataloguePtr known, app::catalogue());
  FORETRACE_TRY(const auto nodes, read_node_scenario(*known, path));
  if (nodes.has_value()) return run_node_scenario(options, *nodes);
  FORETRACE_TRY(const auto recorded, read_trace_scenario(path));
  if (recorded.has_value()) return run_trace_scenario(options, *known, *recorded);
  FORETRACE_TRY(const Scenario scenario, read_scenario(*known, path));
  FORETRACE_TRY(app::check_outputs(outputs_of(options), scenario.files));
  if (!scenario.what_ifs.empty()) return run_changed_scenario(options, known, scenario);
  FORETRACE_TRY(const ScenarioAnswer answer,
                app::while_busy(options.common, "simulating the step",
                                [&] { return answer_scenario(scenario); }));
  const std::array<ChromeTraceView, 1> views = {{{"", answer.graph, answer.timeline}}};
  FORETRACE_TRY(app::write_timeline(options.timeline, views));
  return app::answer(report::scenario_page({scenario, answer, options.timeline, known.get()}),
                     options.common, answer.fits ? app::exit_done : app::exit_answer_is_no);
}

/// Steps until a target is reached, of a scenario or a recording.
app::Exit run_training(const Options& options, const std::string& path) {
  FORETRACE_TRY(check_not_recorded(options));
  if (!options.timeline.empty()) {
    return Error{ErrorCode::bad_usage,
                 "simulate: --timeline shows one step; a training run has many"};
  }
  FORETRACE_TRY(const CataloguePtr known, app::catalogue());
  FORETRACE_TRY(const auto run, read_training(known, path));
  const auto times =
      app::while_busy(options.common, "composing the run", [&] { return training_times(run); });
  FORETRACE_TRY(times);
  const bool fits =
      std::any_of(times->begin(), times->end(), [](const auto& one) { return one.fits; });
  return app::answer(report::training_page({run, *times}), options.common,
                     fits ? app::exit_done : app::exit_answer_is_no);
}

/// A kind of file that is simulated as it is; null: another one.
const FileKind* simulated_kind(const std::string& path) {
  const FileKind* const kind = find_file_kind(path);
  return kind != nullptr && kind->command == "simulate" ? kind : nullptr;
}

app::Exit run_file(const Options& options, const FileKind& kind) {
  const std::string& path = options.trace.paths.front();
  const std::string why = fmt::format("{} contains {}", path, kind.holds);
  FORETRACE_TRY(check_not_recorded(options, why));
  if (!options.timeline.empty()) {
    return Error{ErrorCode::bad_usage, fmt::format("simulate: --timeline shows a step; {}", why)};
  }
  return app::answer_file(kind, path, options.common);
}

app::Exit run(const Options& options) {
  FORETRACE_TRY(app::check_outputs(outputs_of(options), options.trace.paths));
  if (options.trace.paths.size() == 1 && is_scenario_file(options.trace.paths.front())) {
    return run_scenario(options, options.trace.paths.front());
  }
  if (options.trace.paths.size() == 1 && is_training_file(options.trace.paths.front())) {
    return run_training(options, options.trace.paths.front());
  }
  for (const std::string& path : options.trace.paths) {
    const FileKind* const kind = simulated_kind(path);
    if (kind != nullptr && options.trace.paths.size() == 1) return run_file(options, *kind);
    if (kind == nullptr && !is_scenario_file(path) && !is_training_file(path)) continue;
    return Error{ErrorCode::bad_usage,
                 fmt::format("simulate: {} contains {}, expected it alone or traces only", path,
                             kind == nullptr ? "a scenario" : kind->holds)};
  }
  FORETRACE_TRY(std::optional<BudgetQuestion> question, app::budget_question(options.budget));
  if (question.has_value() &&
      !(options.pictures.timeline.empty() && options.pictures.memory.empty())) {
    return Error{ErrorCode::bad_usage, fmt::format("simulate: {}", app::budget_draws_timelines)};
  }
  FORETRACE_TRY(const Session session, app::open_session(options.trace, options.common));
  if (question.has_value()) return run_in_budget(options, session, *std::move(question));
  FORETRACE_TRY(app::write_timeline(options.timeline, session));
  FORETRACE_TRY(app::draw_pictures(options.pictures, session));
  return app::answer(
      report::result_page({.session = session,
                           .all_steps = session.options().step.kind == StepChoice::Kind::all,
                           .timeline = options.timeline}),
      options.common);
}

void declare(app::Arguments& cli, Options& options) {
  app::add_trace(cli, options.trace);
  app::add_run(cli, options.trace);
  app::add_budget(cli, options.budget);
  app::add_timeline(cli, options.timeline);
  app::add_pictures(cli, options.pictures);
  app::add_page(cli, options.common);
  app::add_common(cli, options.common);
  cli.add_examples(
      {{"foretrace simulate trace.json.gz",
        "measured beside simulated, where the step goes, what the graph does not explain"},
       {"foretrace simulate trace.json.gz --timeline replay.json",
        "also writes the simulated timeline with its dependencies, for ui.perfetto.dev"},
       {"foretrace simulate trace.json.gz --memory-budget '6 GiB' --when-full dtr",
        "whether it fits, and what recomputing evicted tensors costs"},
       {"foretrace simulate trace.json.gz --memory-budget 80% --when-full delta --timeline t.json",
        "and shows what is evicted, copied and recomputed"},
       {"foretrace simulate trace.json.gz --step all", "every step beside its simulation"},
       {"foretrace simulate gpt3_175b_selene.json",
        "a scenario instead of a trace: step time, range, memory per stage, where the step goes"},
       {"foretrace simulate bert_target.json",
        "a training run until its target: steps, evaluations and the start, by batch"},
       {"foretrace simulate examples/recipes/served_models/llama3_8b.json",
        "requests to a served model; likewise streams, tasks to map, a cache, federated rounds"}});
}

}  // namespace

extern constexpr CommandInfo info = {"simulate", app::Group::look,
                                     "replay a trace and show how close the simulation is",
                                     app::set_up<Options, declare, run>};

}  // namespace foretrace::commands::simulate_parts
