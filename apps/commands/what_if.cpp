// foretrace whatif: baseline beside prediction, or every what-if ranked by its gain.
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "apps/command.h"
#include "apps/console.h"
#include "apps/driver/analysis.h"
#include "apps/driver/documents.h"
#include "apps/driver/memory_budget.h"
#include "apps/driver/predict.h"
#include "apps/driver/what_if_spec.h"
#include "apps/help.h"
#include "apps/options.h"
#include "apps/report.h"
#include "apps/text.h"
#include "sim/result/chrome_trace.h"

namespace foretrace::commands {
namespace {

struct Options {
  app::CommonOptions common;
  app::TraceOptions trace;
  std::vector<std::string> apply;
  std::string accelerator;
  bool rank_all = false;
  app::BudgetOptions budget;
  std::string timeline;
};

/// Within a budget: the recorded run and the predicted one.
struct Budgets {
  driver::BudgetAnswer baseline;
  driver::BudgetAnswer predicted;
};

/// What --apply and --accelerator ask for, checked before the trace is read.
Result<std::vector<driver::WhatIf>> stack_of(const Options& options) {
  Result<std::vector<driver::WhatIfSpec>> specs = driver::parse_stack(options.apply);
  if (!specs.ok()) {
    return specs.error();
  }
  if (!options.accelerator.empty()) {
    specs->push_back(driver::swap_to(options.accelerator));
  }
  if (specs->empty() == !options.rank_all) {
    return Error{
        ErrorCode::bad_usage,
        options.rank_all
            ? "whatif: --rank-all tries what-ifs alone, leave out --apply and --accelerator"
            : "whatif: give --apply NAME, --accelerator NAME or --rank-all"};
  }
  std::vector<driver::WhatIf> stack;
  for (const driver::WhatIfSpec& spec : *specs) {
    Result<driver::WhatIf> what_if = driver::check_what_if(spec);
    if (!what_if.ok()) {
      return what_if.error();
    }
    stack.push_back(*std::move(what_if));
  }
  return stack;
}

/// What both answers start from.
struct Baseline {
  driver::Recording recording;
  driver::RunOptions options;
  driver::Replay replay;
  driver::Analysis analysis;
  std::optional<driver::BudgetQuestion> question;
};

Result<Baseline> baseline_of(const Options& options) {
  const Result<driver::RunOptions> run_options = app::run_options(options.trace);
  if (!run_options.ok()) {
    return run_options.error();
  }
  Result<std::optional<driver::BudgetQuestion>> question = app::budget_question(options.budget);
  if (!question.ok()) {
    return question.error();
  }
  Result<driver::Recording> recording = app::load_trace(options.trace, options.common);
  if (!recording.ok()) {
    return recording.error();
  }
  Result<driver::Replay> replay = driver::replay(*recording, *run_options);
  if (!replay.ok()) {
    return replay.error();
  }
  Result<driver::Analysis> analysis =
      driver::analyse(recording->graph(), replay->run, *run_options);
  if (!analysis.ok()) {
    return analysis.error();
  }
  driver::add_reserved(*recording, recording->graph(), *analysis);
  return Baseline{*std::move(recording), *run_options, *std::move(replay), *std::move(analysis),
                  *std::move(question)};
}

/// Nothing without a budget.
Result<std::optional<Budgets>> budgets_of(const Baseline& base,
                                          const driver::Prediction& prediction) {
  if (!base.question) {
    return std::optional<Budgets>{};
  }
  Result<driver::BudgetAnswer> baseline =
      driver::run_in_budget(base.recording.graph(), *base.question, base.options);
  if (!baseline.ok()) {
    return baseline.error();
  }
  Result<driver::BudgetAnswer> predicted =
      driver::run_in_budget(prediction.graph, *base.question, base.options);
  if (!predicted.ok()) {
    return predicted.error();
  }
  return std::optional(Budgets{*std::move(baseline), *std::move(predicted)});
}

std::string budget_text(const Budgets& budgets) {
  return "\n" + app::strong("within the memory budget") + "\n" +
         app::paragraph("  baseline  ", app::budget_headline(budgets.baseline)) +
         app::paragraph("  predicted ", app::budget_headline(budgets.predicted)) +
         app::budget_rows(budgets.predicted);
}

int rank(const Options& options, const Baseline& base) {
  const Result<driver::Ranking> ranking =
      driver::rank_all(base.recording, base.replay, base.options);
  if (!ranking.ok()) {
    return app::failure(ranking.error());
  }
  const app::ExitCode code = ranking->rows.empty() ? app::exit_answer_is_no : app::exit_done;
  if (options.common.json) {
    return app::answer(
        driver::text_of(driver::result_document(
            {base.recording, base.replay, base.analysis, nullptr, nullptr, &*ranking})),
        code);
  }
  return app::answer(options.common.quiet
                         ? app::ranking_headline(base.replay, *ranking) + "\n"
                         : app::ranking_page(base.recording, base.replay, *ranking),
                     code);
}

int predict(const Options& options, const Baseline& base,
            const std::vector<driver::WhatIf>& stack) {
  const Result<driver::Prediction> prediction =
      driver::predict(base.recording, stack, base.options);
  if (!prediction.ok()) {
    return app::failure(prediction.error());
  }
  Result<driver::Analysis> predicted =
      driver::analyse(prediction->graph, prediction->run, base.options);
  if (!predicted.ok()) {
    return app::failure(predicted.error());
  }
  driver::add_reserved(base.recording, prediction->graph, *predicted);
  const Result<std::optional<Budgets>> budgets = budgets_of(base, *prediction);
  if (!budgets.ok()) {
    return app::failure(budgets.error());
  }
  const Budgets* const within = budgets->has_value() ? &**budgets : nullptr;
  const app::ExitCode code =
      within != nullptr && !within->predicted.fits ? app::exit_answer_is_no : app::exit_done;
  const std::array<ChromeTraceView, 2> views = {
      {{"baseline", base.recording.graph(), base.replay.run.timeline,
        driver::memory_counters(base.analysis)},
       {"predicted", prediction->graph, prediction->run.timeline,
        driver::memory_counters(*predicted)}}};
  if (const Status written = app::write_timeline(options.timeline, views); !written.ok()) {
    return app::failure(written.error());
  }
  if (options.common.json) {
    return app::answer(driver::text_of(driver::result_document(
                           {base.recording, base.replay, base.analysis, &*prediction, &*predicted,
                            nullptr, within == nullptr ? nullptr : &within->baseline,
                            within == nullptr ? nullptr : &within->predicted})),
                       code);
  }
  if (options.common.quiet) {
    return app::answer(
        app::prediction_headline(base.replay, *prediction) + "\n" +
            (within == nullptr ? "" : app::budget_headline(within->predicted) + "\n"),
        code);
  }
  return app::answer(
      app::prediction_page({base.recording, base.replay, base.analysis, *prediction, *predicted}) +
          (within == nullptr ? "" : budget_text(*within)) + app::timeline_line(options.timeline),
      code);
}

int run(const Options& options) {
  app::start_logging(options.common);
  const Result<std::vector<driver::WhatIf>> stack = stack_of(options);
  if (!stack.ok()) {
    return app::failure(stack.error());
  }
  if (options.rank_all && !options.timeline.empty()) {
    return app::failure(
        {ErrorCode::bad_usage, "whatif: --timeline shows one prediction, give it with --apply"});
  }
  if (options.rank_all && !options.budget.size.empty()) {
    return app::failure({ErrorCode::bad_usage,
                         "whatif: --memory-budget judges one prediction, give it with --apply"});
  }
  const Result<Baseline> base = baseline_of(options);
  if (!base.ok()) {
    return app::failure(base.error());
  }
  return options.rank_all ? rank(options, *base) : predict(options, *base, *stack);
}

std::function<int()> setup(CLI::App& cli) {
  const auto options = std::make_shared<Options>();
  options->trace.memory_graph = true;
  app::add_trace(cli, options->trace);
  cli.add_option("-a,--apply", options->apply,
                 "a what-if, NAME[:key=value,...] or @FILE.json; may be repeated, applied in order")
      ->type_name("WHATIF")
      ->allow_extra_args(false);
  cli.add_option("--accelerator", options->accelerator,
                 "the same run on this product; foretrace list accelerators names them")
      ->type_name("NAME");
  cli.add_flag("--rank-all", options->rank_all,
               "try every what-if that applies, alone and with its defaults; largest gain first");
  app::add_run(cli, options->trace);
  app::add_budget(cli, options->budget);
  app::add_timeline(cli, options->timeline);
  app::add_common(cli, options->common);
  constexpr app::Example examples[] = {
      {"foretrace whatif trace.json.gz --rank-all", "what would help most"},
      {"foretrace whatif trace.json.gz --apply mixed_precision --apply fused_optimizer",
       "two at once, the second on top of the first"},
      {"foretrace whatif trace.json.gz --apply \"scale:select='kind=kernel&name~gemm',factor=0.5\"",
       "any selection of tasks by any factor; quotes where a value holds , & ~ : ="}};
  app::add_examples(cli, examples);
  return [options] { return run(*options); };
}

}  // namespace

extern const CommandInfo what_if;
const CommandInfo what_if = {"whatif", "baseline beside prediction, or what-ifs ranked by gain",
                             setup};

}  // namespace foretrace::commands
