// foretrace whatif: baseline beside prediction, what-ifs ranked by their gain, what fits.
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/cli/arguments/command.h"
#include "apps/cli/arguments/help.h"
#include "apps/cli/names/configs.h"
#include "apps/cli/names/names.h"
#include "apps/cli/options.h"
#include "apps/cli/output/answers.h"
#include "apps/cli/output/busy.h"
#include "apps/cli/output/console.h"
#include "apps/cli/output/pictures.h"
#include "apps/cli/output/timelines.h"
#include "apps/cli/what_if_answers.h"
#include "apps/questions/compare/compare.h"
#include "apps/questions/memory/memory_budget.h"
#include "apps/report/pages/compare.h"
#include "apps/report/pages/result.h"
#include "apps/session/narrower.h"
#include "models/hardware/catalogue/accelerator.h"
#include "models/whatifs/what_if_spec.h"
#include "sim/result/export/chrome_trace.h"

namespace foretrace::commands::what_if_parts {
namespace {

struct Options {
  app::CommonOptions common;
  app::TraceOptions trace;
  std::vector<std::string> apply;
  std::string accelerator;
  std::string parallel;
  std::string cluster;
  app::Questions questions;
  app::BudgetOptions budget;
  bool narrower = false;
  std::string timeline;
  app::PictureOptions pictures;
  std::vector<std::string> measured;
};

/// Within a budget: the recorded run and the predicted one.
struct Budgets {
  BudgetAnswer baseline;
  BudgetAnswer predicted;
};

/// What --parallel and --cluster ask for.
Status add_spread(const Options& options, std::vector<WhatIfSpec>& specs) {
  if (options.parallel.empty() && options.cluster.empty()) return ok_status();
  if (options.parallel.empty()) {
    return Error{
        ErrorCode::bad_usage,
        "whatif: --cluster needs --parallel, such as --parallel data=64, or --parallel recorded"};
  }
  FORETRACE_TRY(WhatIfSpec spread,
                spread_over(options.parallel, options.cluster).with_context("--parallel"));
  specs.push_back(std::move(spread));
  return ok_status();
}

/// What the options ask for, checked before the trace is read.
Result<std::vector<WhatIf>> stack_of(const Options& options) {
  FORETRACE_TRY(std::vector<WhatIfSpec> specs, parse_stack(options.apply));
  FORETRACE_TRY(app::resolve_names(specs));
  FORETRACE_TRY(const std::string accelerator, app::accelerator_option(options.accelerator));
  if (!accelerator.empty()) {
    specs.push_back(swap_to(accelerator));
  }
  FORETRACE_TRY(add_spread(options, specs));
  FORETRACE_TRY(app::check_questions(options.questions, !specs.empty()));
  return check_stack(specs);
}

Result<std::optional<Budgets>> budgets_of(const std::optional<BudgetQuestion>& asked,
                                          const Answer& answer) {
  if (!asked) return std::optional<Budgets>{};
  const Session& session = answer.session();
  BudgetQuestion question = *asked;
  FORETRACE_TRY(count_overhead(session, question));
  FORETRACE_TRY(BudgetAnswer baseline, run_in_budget(session.graph(), question, session.options()));
  FORETRACE_TRY(BudgetAnswer predicted, run_in_budget(answer.graph(), question, session.options()));
  return std::optional(Budgets{std::move(baseline), std::move(predicted)});
}

/// Both runs, within the budget if one is given. False if there is nothing to draw.
Result<bool> draw(const Options& options, const Answer& answer, const Budgets* within) {
  if (within != nullptr) {
    const std::array<app::BudgetView, 2> views = {
        {{"baseline", within->baseline}, {"predicted", within->predicted}}};
    return app::write_budget_timeline(options.timeline, views);
  }
  const Session& session = answer.session();
  Status drawn = app::write_timeline(options.timeline, session, &answer);
  if (drawn.ok()) drawn = app::draw_pictures(options.pictures, session, &answer);
  FORETRACE_TRY(drawn);
  return !options.timeline.empty();
}

/// The prediction beside the recording of the changed run.
app::Exit check(const Options& options, const Answer& answer) {
  app::TraceOptions trace = options.trace;
  trace.paths = options.measured;
  trace.unprofiled_step.clear();  // of the other recording
  FORETRACE_TRY(const Session session, app::open_session(trace, options.common));
  const ComparedRun predicted = compared_run(answer);
  const ComparedRun measured = compared_run(session);
  FORETRACE_TRY(const Comparison comparison, compare_runs(predicted, measured));
  const std::vector<Doubt>& doubts = answer.session().replay().doubts;
  return app::answer(report::compare_page({predicted, measured, comparison, doubts}),
                     options.common);
}

app::Exit predict(const Options& options, const Session& session, const std::vector<WhatIf>& stack,
                  const std::optional<BudgetQuestion>& question) {
  FORETRACE_TRY(const Answer answer, session.ask(stack));
  if (!options.measured.empty()) return check(options, answer);
  FORETRACE_TRY(const std::optional<Budgets> budgets, budgets_of(question, answer));
  const Budgets* const within = budgets.has_value() ? &*budgets : nullptr;
  const bool in_budget = within == nullptr || within->predicted.fits;
  FORETRACE_TRY(const bool drawn, draw(options, answer, within));
  std::optional<NarrowerAnswer> narrower;
  if (options.narrower) {
    FORETRACE_TRY(const auto found,
                  app::while_busy(options.common, "predicting with more measured", [&] {
                    return find_narrower(session, stack, answer.prediction());
                  }));
    narrower = found;
  }
  return app::answer(
      report::result_page({.session = session,
                           .predicted = &answer,
                           .baseline_budget = within == nullptr ? nullptr : &within->baseline,
                           .predicted_budget = within == nullptr ? nullptr : &within->predicted,
                           .narrower = narrower ? &*narrower : nullptr,
                           .timeline = drawn ? std::string_view(options.timeline) : ""}),
      options.common, answer.fits() && in_budget ? app::exit_done : app::exit_answer_is_no);
}

/// The what-ifs as they can be written again.
std::vector<std::string> written(const Options& options) {
  std::vector<std::string> texts = options.apply;
  if (!options.accelerator.empty()) {
    texts.push_back(text_of(swap_to(options.accelerator)));
  }
  if (const auto spread = spread_over(options.parallel, options.cluster);
      !options.parallel.empty() && spread.ok()) {
    texts.push_back(text_of(*spread));
  }
  return texts;
}

/// Before the work: what is drawn is none of the files that are read.
Status check_outputs(const Options& options) {
  std::vector<std::string> inputs = app::files_of_what_ifs(options.apply);
  inputs.insert(inputs.end(), options.trace.paths.begin(), options.trace.paths.end());
  if (!options.accelerator.empty()) {
    inputs.push_back(app::config_directory() + "/accelerators/" + options.accelerator + ".json");
    inputs.push_back(options.accelerator);
  }
  return app::check_outputs(
      std::array{options.timeline, options.pictures.timeline, options.pictures.memory}, inputs);
}

/// The files that parameters name, which are known once what-ifs are read.
Status check_outputs(const Options& options, std::span<const WhatIf> stack) {
  std::vector<std::string> inputs;
  for (const WhatIf& what_if : stack) {
    for (const ParamInfo& row : what_if.info->params) {
      if (row.type == ParamType::text) inputs.push_back(what_if.parameters.text(row));
    }
  }
  return app::check_outputs(
      std::array{options.timeline, options.pictures.timeline, options.pictures.memory}, inputs);
}

/// What would be left out without a word.
Status check_together(const Options& options) {
  const bool asks = options.questions.any();
  const bool checks = !options.measured.empty();
  const bool draws = !options.pictures.timeline.empty() || !options.pictures.memory.empty();
  const bool writes = !options.timeline.empty();
  const bool bounds = !options.budget.size.empty();
  const std::pair<bool, std::string_view> refused[] = {
      {asks && writes, "--timeline shows one prediction; add --apply"},
      {asks && draws, "--svg and --memory-svg show one prediction; add --apply"},
      {asks && checks, "--check judges one prediction; add --apply"},
      {asks && options.narrower, "--narrower is about one prediction; add --apply"},
      {checks && options.narrower, "--check compares with a recording; leave out --narrower"},
      {asks && bounds, "--memory-budget judges one prediction; add --apply"},
      {checks && (writes || draws),
       "--check compares with a recording; draw the prediction without it, or the comparison with "
       "foretrace compare"},
      {checks && bounds,
       "--check compares with a recording, which had no budget; expected one of "
       "--check and --memory-budget"},
      {bounds && draws, app::budget_draws_timelines}};
  for (const auto& [is_so, message] : refused) {
    if (is_so) return Error{ErrorCode::bad_usage, fmt::format("whatif: {}", message)};
  }
  return ok_status();
}

app::Exit run(const Options& options) {
  FORETRACE_TRY(check_outputs(options));
  // Nothing is asked in particular: what would help most?
  const auto ranked = [&options] {
    Options ranking = options;
    ranking.questions.rank_all = true;
    return run(ranking);
  };
  const bool names_none =
      options.apply.empty() && options.accelerator.empty() && options.parallel.empty();
  if (names_none && options.cluster.empty() && !options.questions.any()) return ranked();
  FORETRACE_TRY(const std::vector<WhatIf> stack, stack_of(options));
  if (stack.empty() && !options.questions.any()) return ranked();
  FORETRACE_TRY(check_outputs(options, stack));
  FORETRACE_TRY(check_together(options));
  FORETRACE_TRY(const std::optional<BudgetQuestion> budget, app::budget_question(options.budget));
  FORETRACE_TRY(const Session session, app::open_session(options.trace, options.common));
  return options.questions.any() ? app::answer_question(options.questions, options.common, session,
                                                        stack, written(options))
                                 : predict(options, session, stack, budget);
}

void declare(app::Arguments& cli, Options& options) {
  options.trace.memory_graph = true;
  app::add_trace(cli, options.trace);
  cli.add_option("-a,--apply", options.apply,
                 "a what-if, NAME[:key=value,...] or @FILE.json; may be repeated")
      .type_name("WHATIF");
  cli.add_option("--accelerator", options.accelerator,
                 "the same run on another accelerator: see foretrace list accelerators")
      .type_name("NAME");
  cli.add_option(
         "--check", options.measured,
         "compare the prediction with this recording of the changed run; of a job each rank "
         "once")
      .type_name("MEASURED");
  cli.add_option(
         "--parallel", options.parallel,
         "spread the run over ranks: data=8,zero=1 or tensor=8,pipeline=4, in any combination; or "
         "recorded, to keep the recorded groups; foretrace explain parallel lists the keys")
      .type_name("KEY=N,...");
  cli.add_option("--cluster", options.cluster,
                 "with --parallel: the machine: see foretrace list clusters; without it, the usual "
                 "one of the recorded accelerator")
      .type_name("NAME");
  cli.add_flag("--check-graph", options.trace.check_graph,
               "check that the changed graph keeps all waits of the recorded one");
  cli.add_flag("--narrower", options.narrower,
               "with --apply: which further measurement narrows the range most, and to what");
  app::add_questions(cli, options.questions);
  app::add_run(cli, options.trace);
  app::add_budget(cli, options.budget);
  app::add_timeline(cli, options.timeline);
  app::add_pictures(cli, options.pictures);
  app::add_page(cli, options.common);
  app::add_common(cli, options.common);
  cli.add_examples(
      {{"foretrace whatif trace.json.gz", "what would help most (the same as --rank-all)"},
       {"foretrace whatif trace.json.gz --apply mixed_precision --apply fused_optimizer",
        "two together"},
       {"foretrace whatif before.json.gz --apply mixed_precision --check after.json.gz",
        "how well the prediction matches the recording of the changed run, class by class"},
       {"foretrace whatif trace.json.gz --apply mixed_precision --narrower",
        "which recording would halve the range of the prediction"},
       {"foretrace whatif trace.json.gz --parallel data=64 --cluster dgx_a100",
        "the same run on 64 devices"},
       {"foretrace whatif trace.json.gz --pairs", "which two combine well, and which interfere"},
       {"foretrace whatif trace.json.gz --fit 24GiB", "which changes make it fit a smaller device"},
       {"foretrace whatif trace.json.gz --max-batch --apply activation_checkpointing",
        "how much larger the batch can be then"},
       {"foretrace whatif trace.json.gz --apply "
        "\"scale:select='kind=kernel&name~gemm',factor=0.5\"",
        "any selection of tasks by any factor; quotes where a value contains , & ~ : ="}});
}

}  // namespace

extern constexpr CommandInfo info = {
    "whatif", app::Group::ask,
    "predict what a change would do; rank changes by gain; find what fits",
    app::set_up<Options, declare, run>};

}  // namespace foretrace::commands::what_if_parts
