#include "apps/python/documents.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "apps/extras/page_of_file.h"
#include "apps/plans/plan_request.h"
#include "apps/plans/plan_search.h"
#include "apps/questions/search/best_set.h"
#include "apps/report/pages/inspect.h"
#include "apps/report/pages/plan.h"
#include "apps/report/pages/result.h"
#include "apps/report/pages/scenario.h"
#include "apps/report/pages/schedule.h"
#include "apps/report/pages/sweep.h"
#include "apps/report/sweep_points.h"
#include "apps/report/writers.h"
#include "apps/scheduling/schedule.h"
#include "apps/session/analysis.h"
#include "apps/session/recording/inspect.h"
#include "apps/session/recording/unprofiled_step.h"
#include "apps/sweep/space/expression.h"
#include "apps/sweep/store/select.h"
#include "models/jobs/figures/scenario_answer.h"
#include "models/whatifs/what_if_spec.h"

namespace foretrace::python {
namespace {

Result<RunOptions> run_options(const ReplayOptions& options) {
  RunOptions run;
  auto step = parse_step_choice(options.step);
  if (!step.ok()) return std::move(step).error();
  run.step = *step;
  if (options.engine != "pull" && options.engine != "event") {
    return Error{ErrorCode::bad_usage,
                 fmt::format("engine: got {}, expected pull or event", in_quotes(options.engine))};
  }
  run.engine = options.engine == "event" ? Engine::event : Engine::pull;
  return run;
}

Result<Analysis> analysed(const Recording& recording, const TaskGraph& graph, const Run& run,
                          const RunOptions& options, const Timeline& recorded) {
  auto analysis = analyse(graph, run, options);
  if (analysis.ok()) add_reserved(recording, recorded, graph, *analysis);
  return analysis;
}

/// What-ifs as they were given, and another accelerator as one of them.
Result<std::vector<WhatIfSpec>> specs_of(const std::vector<std::string>& what_ifs,
                                         const std::string& accelerator) {
  auto specs = parse_stack(what_ifs);
  if (specs.ok() && !accelerator.empty()) specs->push_back(swap_to(accelerator));
  return specs;
}

/// The what-if that gives kernels the times of a table.
constexpr std::string_view price_what_if = "kernel_table";

struct Question {
  std::vector<WhatIfSpec> specs;
  std::vector<std::string> what_ifs;  ///< as they were given
  ReplayOptions options;
  std::string price_label = {};      ///< stands for a table that is part of the question
  std::vector<bool> is_priced = {};  ///< by task of the recording
};

/// Share of the critical path's time in tasks of the recording for which `counted` holds.
double path_share(const Prediction& prediction, const std::vector<bool>& counted) {
  const CriticalPath path = step_path(prediction.graph, prediction.run);
  std::int64_t sum = 0;
  for (const PathPiece& piece : path.pieces) {
    const TaskId task =
        prediction.origin.empty() ? piece.task : prediction.origin[index(piece.task)];
    const bool is_counted = piece.part == PathPart::duration && task != none<TaskId> &&
                            index(task) < counted.size() && counted[index(task)];
    sum += is_counted ? piece.duration_ns : 0;
  }
  return static_cast<double>(sum) / static_cast<double>(std::max<std::int64_t>(1, path.total_ns));
}

/// What changes the work of a step does so before kernels take times of a table, which would undo
/// it.
Status check_priced_alone(const std::vector<WhatIfSpec>& specs) {
  const auto stack = check_stack(specs);
  if (!stack.ok()) return stack.error();
  for (const WhatIf& one : *stack) {
    if (one.info->stage != ApplyStage::workload) continue;
    return Error{
        ErrorCode::bad_usage,
        fmt::format("price: what-if '{}' changes what kernels have to do, and the times told "
                    "are those of the recorded work; expected what-ifs that leave it",
                    one.info->name)};
  }
  return ok_status();
}

Result<PricedAnswer> answered(const Recording& recording, const Question& question) {
  const auto run = run_options(question.options);
  if (!run.ok()) return run.error();
  const auto stack = check_stack(question.specs);
  if (!stack.ok()) return stack.error();
  const auto replay = foretrace::replay(recording, *run);
  if (!replay.ok()) return replay.error();
  auto prediction = predict(recording, *stack, *run, &*replay);
  if (!prediction.ok()) return prediction.error();
  add_facts(recording, replay->run, *prediction);
  for (Applied& applied : prediction->applied) {
    for (auto& [key, value] : applied.parameters) {
      const bool is_price = !question.price_label.empty() && costing::CostTable::is_document(value);
      if (is_price) value = question.price_label;
    }
  }
  const auto before =
      analysed(recording, recording.graph(), replay->run, *run, replay->run.timeline);
  if (!before.ok()) return before.error();
  const auto after =
      analysed(recording, prediction->graph, prediction->run, *run, replay->run.timeline);
  if (!after.ok()) return after.error();
  PricedAnswer answer;
  answer.document = report::json_of(report::result_page({.recording = recording,
                                                         .replay = *replay,
                                                         .baseline = *before,
                                                         .prediction = &*prediction,
                                                         .predicted = &*after,
                                                         .what_ifs = question.what_ifs}));
  if (!question.is_priced.empty()) answer.path_share = path_share(*prediction, question.is_priced);
  return answer;
}

Result<std::string> simulated(const Result<Scenario>& scenario) {
  if (!scenario.ok()) return scenario.error();
  const auto answer = answer_scenario(*scenario);
  if (!answer.ok()) return answer.error();
  return report::json_of(report::scenario_page({*scenario, *answer, {}}));
}

}  // namespace

Result<CataloguePtr> catalogue_of(const std::string& directory) {
  static std::mutex mutex;
  static std::map<std::string, CataloguePtr> known;
  const std::lock_guard<std::mutex> lock(mutex);
  if (const auto found = known.find(directory); found != known.end()) return found->second;
  auto read = Catalogue::read(directory);
  if (!read.ok()) return std::move(read).error();
  return known.emplace(directory, std::make_shared<const Catalogue>(*std::move(read)))
      .first->second;
}

Result<RecordedRun> RecordedRun::read(const std::vector<std::string>& paths,
                                      const CataloguePtr& catalogue, bool strict,
                                      const std::string& unprofiled_step) {
  LoadOptions options{.catalogue = catalogue, .strict = strict};
  auto step = parse_unprofiled_step(unprofiled_step);
  if (!step.ok()) return std::move(step).error();
  options.unprofiled_step_ns = *step;
  auto recording = load_inputs(paths, options);
  if (!recording.ok()) return std::move(recording).error();
  RecordedRun run;
  run.recording_ = std::make_shared<const Recording>(std::move(*recording));
  return run;
}

Result<std::string> RecordedRun::simulate(const ReplayOptions& options) const {
  const auto run = run_options(options);
  if (!run.ok()) return run.error();
  const auto replay = foretrace::replay(*recording_, *run);
  if (!replay.ok()) return replay.error();
  const auto analysis =
      analysed(*recording_, recording_->graph(), replay->run, *run, replay->run.timeline);
  if (!analysis.ok()) return analysis.error();
  return report::json_of(
      report::result_page({.recording = *recording_, .replay = *replay, .baseline = *analysis}));
}

Result<std::string> RecordedRun::what_if(const std::vector<std::string>& what_ifs,
                                         const std::string& accelerator,
                                         const ReplayOptions& options) const {
  auto specs = specs_of(what_ifs, accelerator);
  if (!specs.ok()) return std::move(specs).error();
  if (specs->empty()) {
    return Error{ErrorCode::bad_usage,
                 "whatif: no what-if, expected one such as 'mixed_precision'"};
  }
  auto answer = answered(*recording_, {*specs, what_ifs, options});
  if (!answer.ok()) return std::move(answer).error();
  return std::move(answer->document);
}

Result<std::vector<costing::KernelKind>> RecordedRun::kernels(const std::string& where) const {
  return costing::kernel_kinds(recording_->graph(), where);
}

Result<PricedAnswer> RecordedRun::price(const Prices& prices,
                                        const std::vector<std::string>& what_ifs,
                                        const std::string& accelerator,
                                        const ReplayOptions& options) const {
  auto specs = specs_of(what_ifs, accelerator);
  if (!specs.ok()) return std::move(specs).error();
  if (Status alone = check_priced_alone(*specs); !alone.ok()) return std::move(alone).error();
  const auto table = costing::CostTable::parse(prices.table, prices.label);
  if (!table.ok()) return table.error();
  const auto kernels = costing::selected_kernels(recording_->graph(), prices.where);
  if (!kernels.ok()) return kernels.error();
  Question question{*specs, what_ifs, options, prices.label,
                    std::vector<bool>(recording_->graph().size(), false)};
  const TaskGraph& graph = recording_->graph();
  std::vector<std::optional<bool>> known(graph.context().works.size());
  for (const TaskId kernel : *kernels) {
    std::optional<bool>& is_priced = known[index(graph.work_id(kernel))];
    if (!is_priced) {
      const auto entry = table->look_up(costing::table_kernel(graph, kernel));
      is_priced = entry.found == costing::CostTable::Found::exact;
    }
    question.is_priced[index(kernel)] = *is_priced;
  }
  question.specs.push_back(
      {std::string(price_what_if), {{"table", prices.table}, {"select", prices.where}}});
  return answered(*recording_, question);
}

Result<std::string> RecordedRun::search(const std::vector<std::string>& what_ifs,
                                        const std::string& accelerator, const SearchOptions& search,
                                        const ReplayOptions& options) const {
  const auto run = run_options(options);
  if (!run.ok()) return run.error();
  auto specs = parse_stack(what_ifs);
  if (!specs.ok()) return std::move(specs).error();
  if (!accelerator.empty()) specs->push_back(swap_to(accelerator));
  const auto stack = check_stack(*specs);
  if (!stack.ok()) return stack.error();
  if (search.by != "time" && search.by != "memory") {
    return Error{ErrorCode::bad_usage,
                 fmt::format("by: got {}, expected time or memory", in_quotes(search.by))};
  }
  BestSetQuestion question{.by = search.by == "memory" ? RankBy::memory : RankBy::time,
                           .most_members = search.members,
                           .most_trials = search.trials,
                           .without = search.without,
                           .target = {}};
  if (!search.fit.empty()) {
    const auto device = accelerator_after(*recording_, *stack);
    if (!device.ok()) return device.error();
    const auto target = parse_target(recording_->catalogue(), search.fit, *device);
    if (!target.ok()) return target.error();
    question.target = *target;
  }
  const auto replay = foretrace::replay(*recording_, *run);
  if (!replay.ok()) return replay.error();
  const auto before =
      analysed(*recording_, recording_->graph(), replay->run, *run, replay->run.timeline);
  if (!before.ok()) return before.error();
  const auto found = find_best_set(*recording_, *replay, *stack, *run, question);
  if (!found.ok()) return found.error();
  return report::json_of(report::result_page({.recording = *recording_,
                                              .replay = *replay,
                                              .baseline = *before,
                                              .best_set = &*found,
                                              .what_ifs = what_ifs}));
}

bool is_scenario(const std::string& path) { return is_scenario_file(path); }

Result<std::string> simulate_scenario(const std::string& path, const CataloguePtr& catalogue) {
  return simulated(read_scenario(*catalogue, path));
}

Result<std::string> simulate_scenario_text(const std::string& text, const CataloguePtr& catalogue) {
  return simulated(parse_scenario(*catalogue, text, "scenario"));
}

Result<std::string> inspect(const std::vector<std::string>& paths, const CataloguePtr& catalogue) {
  std::vector<Inspection> found;
  for (const std::string& path : paths) {
    auto some = inspect(path, {.catalogue = catalogue});
    if (!some.ok()) return std::move(some).error();
    std::move(some->begin(), some->end(), std::back_inserter(found));
  }
  return report::json_of(report::inspect_page(found, {}));
}

Result<std::string> plan(const PlanRequest& request, std::uint32_t gpus, double batch,
                         std::size_t top, const CataloguePtr& catalogue) {
  const auto scenario = scenario_of(*catalogue, request);
  if (!scenario.ok()) return scenario.error();
  const std::uint32_t all = scenario->cluster->accelerators();
  if (gpus > all) {
    return Error{ErrorCode::bad_usage,
                 fmt::format("gpus: got {}, expected at most the {} accelerators of {}", gpus, all,
                             scenario->cluster->name)};
  }
  const std::uint32_t devices = gpus > 0 ? gpus : power_of_two_within(all);
  const double sequences =
      batch > 0 ? batch : usual_batch(scenario->model->transformer, scenario->job.length, devices);
  std::vector<PlanAnswer> answers;
  auto found = search_plans({*scenario, devices, sequences, top});
  if (!found.ok()) return std::move(found).error();
  answers.push_back(*std::move(found));
  return report::json_of(report::plans_page({*scenario, answers, {}}));
}

Result<std::string> schedule(const std::string& path, const CataloguePtr& catalogue) {
  const auto jobs = report::holds_jobs(path);
  if (!jobs.ok()) return jobs.error();
  if (!*jobs) {
    const auto page = report::page_without_jobs(*catalogue, path);
    if (!page.ok()) return page.error();
    return report::json_of(*page);
  }
  const auto read = scheduling::read_schedule(path);
  if (!read.ok()) return read.error();
  const auto runs = scheduling::run_schedule(*read);
  if (!runs.ok()) return runs.error();
  return report::json_of(report::schedule_page({*read, *runs}));
}

Result<std::string> sweep(const SweepQuestion& question, const CataloguePtr& catalogue) {
  const auto read = question.text.empty() ? sweeping::read_sweep(question.path)
                                          : sweeping::parse_sweep(question.text, question.path, "");
  if (!read.ok()) return read.error();
  const auto run = sweeping::run_sweep(*read, question.folder,
                                       {.catalogue = catalogue,
                                        .threads = question.threads,
                                        .fresh = question.fresh,
                                        .version = FORETRACE_VERSION});
  if (!run.ok()) return run.error();
  const auto stored = sweeping::open_stored(question.folder);
  if (!stored.ok()) return stored.error();
  std::vector<sweeping::SelectedPoint> points;
  const auto counts = sweeping::select_points(*stored, {.top = question.top},
                                              [&](const sweeping::SelectedPoint& point) {
                                                points.push_back(point);
                                                return ok_status();
                                              });
  if (!counts.ok()) return counts.error();
  auto failures = stored->store.reasons(3);
  if (!failures.ok()) return std::move(failures).error();
  const report::SweepAnswer answer{stored->sweep, *counts, std::move(points), std::move(*failures),
                                   &*run};
  return report::json_of(report::sweep_page(answer));
}

Result<std::string> sweep_points(const std::string& folder, const std::string& where,
                                 std::size_t top, bool pareto) {
  const auto stored = sweeping::open_stored(folder);
  if (!stored.ok()) return stored.error();
  sweeping::PointQuestion question{.top = top, .pareto = pareto};
  if (!where.empty()) {
    auto expression = sweeping::Expression::parse(where, stored->sweep.names);
    if (!expression.ok()) return std::move(expression).error().with_context("where");
    question.where = std::move(*expression);
  }
  std::string text;
  const auto keep = [&](std::string_view lines) {
    text += lines;
    return true;
  };
  const Status written =
      report::write_points(*stored, question, keep, report::CsvReaders::programs);
  if (!written.ok()) return written.error();
  return text;
}

}  // namespace foretrace::python
