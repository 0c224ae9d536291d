#include "apps/python/documents.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "apps/extras/file_kinds.h"
#include "apps/plans/plan_request.h"
#include "apps/plans/plan_search.h"
#include "apps/questions/memory/max_batch.h"
#include "apps/questions/search/best_set.h"
#include "apps/report/pages/cluster/plan.h"
#include "apps/report/pages/cluster/scenario.h"
#include "apps/report/pages/cluster/sweep.h"
#include "apps/report/pages/inspect.h"
#include "apps/report/pages/result.h"
#include "apps/report/sweep_points.h"
#include "apps/report/writers.h"
#include "apps/session/load_run.h"
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
  FORETRACE_TRY(run.step, parse_step_choice(options.step));
  if (options.engine != "pull" && options.engine != "event") {
    return Error{ErrorCode::bad_usage,
                 fmt::format("engine: got {}, expected pull or event", in_quotes(options.engine))};
  }
  run.engine = options.engine == "event" ? Engine::event : Engine::pull;
  return run;
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

/// Share of the critical path's time in tasks of the recording for which `counted` holds.
double path_share(const Answer& answer, const std::vector<bool>& counted) {
  const std::vector<TaskId>& origin = answer.prediction().origin;
  const CriticalPath path = step_path(answer.graph(), answer.run());
  std::int64_t sum = 0;
  for (const PathPiece& piece : path.pieces) {
    const TaskId task = origin.empty() ? piece.task : origin[index(piece.task)];
    const bool is_counted = piece.part == PathPart::duration && task != none<TaskId> &&
                            index(task) < counted.size() && counted[index(task)];
    sum += is_counted ? piece.duration_ns : 0;
  }
  return static_cast<double>(sum) / static_cast<double>(std::max<std::int64_t>(1, path.total_ns));
}

/// What changes the work of a step does so before kernels take times of a table, which would undo
/// it.
Status check_priced_alone(const std::vector<WhatIfSpec>& specs) {
  FORETRACE_TRY(const auto stack, check_stack(specs));
  for (const WhatIf& one : stack) {
    if (one.info->stage != ApplyStage::workload) continue;
    return Error{ErrorCode::bad_usage,
                 fmt::format("price: what-if '{}' changes the work of kernels, but the given times "
                             "are of the recorded work; expected what-ifs that keep it",
                             one.info->name)};
  }
  return ok_status();
}

Result<std::string> simulated(const Result<Scenario>& scenario, const CataloguePtr& catalogue) {
  FORETRACE_TRY(scenario);
  if (!scenario->what_ifs.empty()) {
    FORETRACE_TRY(const auto changed, answer_what_ifs(*scenario, catalogue));
    return report::json_of(
        report::result_page({.session = changed.session(), .predicted = &changed}));
  }
  FORETRACE_TRY(const auto answer, answer_scenario(*scenario));
  return report::json_of(report::scenario_page({*scenario, answer, {}}));
}

}  // namespace

Result<CataloguePtr> catalogue_of(const std::string& directory) {
  static std::mutex mutex;
  static std::map<std::string, CataloguePtr> known;
  const std::lock_guard<std::mutex> lock(mutex);
  if (const auto found = known.find(directory); found != known.end()) return found->second;
  FORETRACE_TRY(auto read, Catalogue::read(directory));
  return known.emplace(directory, std::make_shared<const Catalogue>(std::move(read))).first->second;
}

struct RecordedRun::Sessions {
  std::mutex mutex;
  std::map<std::pair<std::string, std::string>, Session> by_options;
};

Result<RecordedRun> RecordedRun::read(const std::vector<std::string>& paths,
                                      const CataloguePtr& catalogue, bool strict,
                                      const std::string& unprofiled_step) {
  LoadOptions options{.catalogue = catalogue, .strict = strict};
  FORETRACE_TRY(options.unprofiled_step_ns, parse_unprofiled_step(unprofiled_step));
  FORETRACE_TRY(auto recording, load_run(paths, options));
  RecordedRun run;
  run.recording_ = std::make_shared<const Recording>(std::move(recording));
  run.sessions_ = std::make_shared<Sessions>();
  return run;
}

Result<Session> RecordedRun::session(const ReplayOptions& options) const {
  FORETRACE_TRY(const auto run, run_options(options));
  const std::pair key(options.step, options.engine);
  const std::lock_guard<std::mutex> lock(sessions_->mutex);
  const auto found = sessions_->by_options.find(key);
  if (found != sessions_->by_options.end()) return found->second;
  auto made = Session::of(recording_, run);
  if (made.ok()) sessions_->by_options.emplace(key, *made);
  return made;
}

Result<std::string> RecordedRun::simulate(const ReplayOptions& options) const {
  FORETRACE_TRY(const auto session, this->session(options));
  return report::json_of(report::result_page({.session = session}));
}

Result<std::string> RecordedRun::what_if(const std::vector<std::string>& what_ifs,
                                         const std::string& accelerator,
                                         const ReplayOptions& options) const {
  FORETRACE_TRY(const auto specs, specs_of(what_ifs, accelerator));
  if (specs.empty()) {
    return Error{ErrorCode::bad_usage,
                 "whatif: no what-if, expected one such as 'mixed_precision'"};
  }
  FORETRACE_TRY(const auto session, this->session(options));
  FORETRACE_TRY(const auto answer, session.ask(specs));
  return report::json_of(
      report::result_page({.session = session, .predicted = &answer, .what_ifs = what_ifs}));
}

Result<std::vector<costing::KernelKind>> RecordedRun::kernels(const std::string& where) const {
  return costing::kernel_kinds(recording_->graph(), where);
}

Result<PricedAnswer> RecordedRun::price(const Prices& prices,
                                        const std::vector<std::string>& what_ifs,
                                        const std::string& accelerator,
                                        const ReplayOptions& options) const {
  FORETRACE_TRY(auto specs, specs_of(what_ifs, accelerator));
  FORETRACE_TRY(check_priced_alone(specs));
  FORETRACE_TRY(const auto table, costing::CostTable::parse(prices.table, prices.label));
  FORETRACE_TRY(const auto kernels, costing::selected_kernels(recording_->graph(), prices.where));
  const TaskGraph& graph = recording_->graph();
  std::vector<bool> is_priced(graph.size(), false);  // by task
  std::vector<std::optional<bool>> known(graph.context().works.size());
  for (const TaskId kernel : kernels) {
    std::optional<bool>& has_price = known[index(graph.work_id(kernel))];
    if (!has_price) {
      const auto entry = table.look_up(costing::table_kernel(graph, kernel));
      has_price = entry.found == costing::CostTable::Found::exact;
    }
    is_priced[index(kernel)] = *has_price;
  }
  specs.push_back(
      {std::string(price_what_if), {{"table", prices.table}, {"select", prices.where}}});
  FORETRACE_TRY(const auto session, this->session(options));
  FORETRACE_TRY(const auto answer, session.ask(specs));
  return PricedAnswer{report::json_of(report::result_page({.session = session,
                                                           .predicted = &answer,
                                                           .what_ifs = what_ifs,
                                                           .table_label = prices.label})),
                      path_share(answer, is_priced)};
}

Result<std::string> RecordedRun::search(const std::vector<std::string>& what_ifs,
                                        const std::string& accelerator, const SearchOptions& search,
                                        const ReplayOptions& options) const {
  FORETRACE_TRY(const auto specs, specs_of(what_ifs, accelerator));
  FORETRACE_TRY(auto stack, check_stack(specs));
  if (search.by != "time" && search.by != "memory") {
    return Error{ErrorCode::bad_usage,
                 fmt::format("by: got {}, expected time or memory", in_quotes(search.by))};
  }
  BestSetQuestion question{.by = search.by == "memory" ? RankBy::memory : RankBy::time,
                           .most_members = search.members,
                           .most_trials = search.trials,
                           .without = search.without,
                           .target = {}};
  FORETRACE_TRY(const auto session, this->session(options));
  if (!search.fit.empty()) {
    FORETRACE_TRY(auto move, move_to_fit(session, stack, search.fit));
    if (move) stack.push_back(*std::move(move));
    FORETRACE_TRY(const auto device, accelerator_after(session, stack));
    FORETRACE_TRY(question.target, parse_target(recording_->catalogue(), search.fit, device));
  }
  FORETRACE_TRY(const auto found, find_best_set(session, stack, question));
  return report::json_of(
      report::result_page({.session = session, .best_set = &found, .what_ifs = what_ifs}));
}

bool is_scenario(const std::string& path) { return is_scenario_file(path); }

Result<std::string> simulate_scenario(const std::string& path, const CataloguePtr& catalogue) {
  return simulated(read_scenario(*catalogue, path), catalogue);
}

Result<std::string> simulate_scenario_text(const std::string& text, const CataloguePtr& catalogue) {
  return simulated(parse_scenario(*catalogue, text, "scenario"), catalogue);
}

Result<std::string> inspect(const std::vector<std::string>& paths, const CataloguePtr& catalogue) {
  std::vector<Inspection> found;
  for (const std::string& path : paths) {
    FORETRACE_TRY(auto some, foretrace::inspect(path, {.catalogue = catalogue}));
    std::move(some.begin(), some.end(), std::back_inserter(found));
  }
  const auto late = late_rank_of(paths, found, {.catalogue = catalogue});
  return report::json_of(report::inspect_page(found, {.late = late}));
}

Result<std::string> plan(const PlanRequest& request, std::uint32_t gpus, double batch,
                         std::size_t top, const CataloguePtr& catalogue) {
  FORETRACE_TRY(const auto scenario, scenario_of(*catalogue, request));
  const std::uint32_t all = scenario.cluster->accelerators();
  if (gpus > all) {
    return Error{ErrorCode::bad_usage, fmt::format("gpus: got {}, expected at most {}", gpus,
                                                   accelerators_of(*scenario.cluster, gpus))};
  }
  const std::uint32_t devices = gpus > 0 ? gpus : power_of_two_within(all);
  const double sequences =
      batch > 0 ? batch : usual_batch(scenario.model->transformer, scenario.job.length, devices);
  std::vector<PlanAnswer> answers;
  FORETRACE_TRY(auto found, search_plans({scenario, devices, sequences, top}));
  answers.push_back(std::move(found));
  return report::json_of(report::plans_page({scenario, answers, {}}));
}

std::string simulated_kind(const std::string& path) {
  const FileKind* const kind = find_file_kind(path);
  return kind != nullptr && kind->command == "simulate" ? std::string(kind->holds) : std::string();
}

Result<std::string> answer_file(const std::string& path, const CataloguePtr& catalogue) {
  FORETRACE_TRY(const auto kind, schedule_file_kind(path));
  FORETRACE_TRY(const auto page, kind->page(*catalogue, path));
  return report::json_of(page);
}

Result<std::string> sweep(const SweepQuestion& question, const CataloguePtr& catalogue) {
  FORETRACE_TRY(const auto read, question.text.empty()
                                     ? sweeping::read_sweep(question.path)
                                     : sweeping::parse_sweep(question.text, question.path, ""));
  FORETRACE_TRY(const auto run, sweeping::run_sweep(read, question.folder,
                                                    {.catalogue = catalogue,
                                                     .threads = question.threads,
                                                     .fresh = question.fresh,
                                                     .version = FORETRACE_VERSION}));
  FORETRACE_TRY(const auto stored, sweeping::open_stored(question.folder));
  std::vector<sweeping::SelectedPoint> points;
  const auto counts = sweeping::select_points(stored, {.top = question.top},
                                              [&](const sweeping::SelectedPoint& point) {
                                                points.push_back(point);
                                                return ok_status();
                                              });
  FORETRACE_TRY(counts);
  FORETRACE_TRY(auto failures, stored.store.reasons(3));
  const report::SweepAnswer answer{stored.sweep, *counts, std::move(points), std::move(failures),
                                   &run};
  return report::json_of(report::sweep_page(answer));
}

Result<std::string> sweep_points(const std::string& folder, const std::string& where,
                                 std::size_t top, bool pareto) {
  FORETRACE_TRY(const auto stored, sweeping::open_stored(folder));
  sweeping::PointQuestion question{.top = top, .pareto = pareto};
  if (!where.empty()) {
    FORETRACE_TRY(question.where,
                  sweeping::Expression::parse(where, stored.sweep.names).with_context("where"));
  }
  std::string text;
  const auto keep = [&](std::string_view lines) {
    text += lines;
    return true;
  };
  FORETRACE_TRY(report::write_points(stored, question, keep, report::CsvReaders::programs));
  return text;
}

}  // namespace foretrace::python
