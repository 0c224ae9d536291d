// foretrace report: one self-contained page that simulates its graph where it is opened.
#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <memory>
#include <string>
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
#include "apps/cli/output/outputs.h"
#include "apps/driver/analysis.h"
#include "apps/driver/answers/ranking.h"
#include "apps/driver/compare/compare.h"
#include "apps/driver/how_to.h"
#include "apps/explorer/page.h"
#include "apps/report/pages.h"
#include "apps/report/writers.h"
#include "sim/core/text.h"

namespace foretrace::commands {
namespace {

struct Options {
  app::CommonOptions common;
  app::TraceOptions trace;
  std::vector<std::string> apply;
  std::string output;
  std::size_t top = 12;
  std::size_t most_megabytes = 8;
};

/// All that the page is made of.
struct Answers {
  driver::Recording recording;
  driver::RunOptions options;
  driver::Replay replay;
  driver::Ranking ranking;
  std::map<const OptimizationInfo*, driver::Prediction> ranked{};  ///< behind its rows
  std::vector<explorer::Variant> variants;
};

explorer::Variant variant_of(std::string name, std::vector<std::string> apply,
                             driver::Prediction prediction, const driver::HowTos& how_tos) {
  explorer::Variant variant{.name = std::move(name), .apply = std::move(apply)};
  for (const driver::Applied& applied : prediction.applied) {
    const OptimizationInfo& info = *applied.optimization;
    variant.title += (variant.title.empty() ? "" : " + ") + report::in_words(info.name);
    variant.summary += (variant.summary.empty() ? "" : "; ") + std::string(info.summary);
    variant.paper += (variant.paper.empty() ? "" : "; ") + std::string(info.paper);
    std::ranges::move(driver::lines_of(how_tos, info.name), std::back_inserter(variant.how));
  }
  variant.prediction = std::move(prediction);
  return variant;
}

/// The what-if of the ranking that the stack is; empty: it is none of them.
std::string ranked_name(const std::vector<driver::WhatIf>& stack, const driver::Ranking& ranking) {
  if (stack.size() != 1) return {};
  const OptimizationInfo* const asked = stack.front().optimization;
  const auto defaults = driver::with_defaults(*asked);
  if (!defaults || defaults->parameters.texts() != stack.front().parameters.texts()) return {};
  const auto is_it = [&](const driver::Ranked& row) { return row.optimization == asked; };
  return std::ranges::any_of(ranking.rows, is_it) ? std::string(asked->name) : std::string();
}

/// The stack that was asked for, then the best of the ranking.
Status add_variants(const Options& options, const std::vector<driver::WhatIf>& stack,
                    Answers& answers) {
  const Result<driver::HowTos>& how_tos = app::how_tos();
  if (!how_tos.ok()) return how_tos.error();
  const std::string asked = ranked_name(stack, answers.ranking);
  if (!stack.empty() && asked.empty()) {
    Result<driver::Prediction> prediction =
        driver::predict(answers.recording, stack, answers.options, &answers.replay);
    if (!prediction.ok()) return prediction.error();
    answers.variants.push_back(
        variant_of("applied", options.apply, *std::move(prediction), *how_tos));
  }
  std::size_t left = options.top;
  for (const driver::Ranked& row : answers.ranking.rows) {
    const std::string name(row.optimization->name);
    if (left == 0 && name != asked) continue;
    left -= left == 0 ? 0 : 1;
    answers.variants.push_back(
        variant_of(name, {name}, std::move(answers.ranked.at(row.optimization)), *how_tos));
  }
  answers.ranked.clear();
  return ok_status();
}

/// The variant that the page opens with: the stack, or the first that gains.
std::string shown_of(const std::vector<driver::WhatIf>& stack, const Answers& answers) {
  const std::string asked = ranked_name(stack, answers.ranking);
  if (!asked.empty()) return asked;
  if (!stack.empty()) return "applied";
  for (const driver::Ranked& row : answers.ranking.rows) {
    if (!row.is_noise && row.speedup > 1) {
      return std::string(row.optimization->name);
    }
  }
  return {};
}

/// Why the shown variant takes as long as it does, and what the step is bound by.
Result<std::vector<explorer::Card>> cards_of(const Answers& answers, const std::string& shown) {
  std::vector<explorer::Card> cards;
  for (const explorer::Variant& variant : answers.variants) {
    if (variant.name != shown) continue;
    const driver::ComparedRun before = driver::compared_run(answers.recording, answers.replay);
    const driver::ComparedRun after = driver::compared_run(variant.title, variant.prediction);
    const Result<driver::Comparison> comparison = driver::compare_runs(before, after);
    if (!comparison.ok()) return comparison.error();
    cards.push_back({"Why " + variant.title + " changes the time",
                     report::html_of(report::compare_page({before, after, *comparison}))});
  }
  constexpr std::size_t groups = 12;
  const driver::PathReport path =
      driver::path_report(answers.recording.graph(), answers.replay.run, groups, answers.options);
  cards.push_back({"What bounds it now", report::html_of(report::critical_path_page(
                                             {answers.recording, answers.replay, path}))});
  Result<driver::Analysis> analysis =
      driver::analyse(answers.recording.graph(), answers.replay.run, answers.options);
  if (!analysis.ok()) return analysis.error();
  driver::add_reserved(answers.recording, answers.replay.run.timeline, answers.recording.graph(),
                       *analysis);
  cards.push_back(
      {"The recording, and how far its graph can be trusted",
       report::html_of(report::result_page(
           {.recording = answers.recording, .replay = answers.replay, .baseline = *analysis}))});
  return cards;
}

Result<Answers> answers_of(const Options& options, const std::vector<driver::WhatIf>& stack) {
  const Result<driver::RunOptions> run_options = app::run_options(options.trace);
  if (!run_options.ok()) return run_options.error();
  Result<driver::Recording> recording = app::load_trace(options.trace, options.common);
  if (!recording.ok()) return recording.error();
  Result<driver::Replay> replay = driver::replay(*recording, *run_options);
  if (!replay.ok()) return replay.error();
  Answers answers{*std::move(recording), *run_options, *std::move(replay), {}, {}, {}};
  Result<driver::Ranking> ranking =
      app::while_busy(options.common, "trying every what-if", [&answers] {
        const auto keep = [&answers](const OptimizationInfo& info, driver::Prediction prediction) {
          answers.ranked.emplace(&info, std::move(prediction));
        };
        return driver::rank_all(answers.recording, answers.replay, answers.options,
                                driver::RankHow{.keep = keep});
      });
  if (!ranking.ok()) return ranking.error();
  answers.ranking = *std::move(ranking);
  if (const Status added = add_variants(options, stack, answers); !added.ok()) {
    return added.error();
  }
  return answers;
}

Result<std::vector<driver::WhatIf>> stack_of(const Options& options) {
  Result<std::vector<driver::WhatIfSpec>> specs = driver::parse_stack(options.apply);
  if (!specs.ok()) return specs.error();
  if (const Status known = app::resolve_names(*specs); !known.ok()) return known.error();
  return driver::check_stack(*specs);
}

int write(const Options& options, const std::vector<driver::WhatIf>& stack,
          const Answers& answers) {
  const std::string shown = shown_of(stack, answers);
  Result<std::vector<explorer::Card>> cards = cards_of(answers, shown);
  if (!cards.ok()) return app::failure(cards.error());
  explorer::PageInput input{.recording = answers.recording,
                            .replay = answers.replay,
                            .traces = options.trace.paths,
                            .ranking = &answers.ranking,
                            .variants = answers.variants,
                            .shown = shown,
                            .cards = *std::move(cards),
                            .step_number = {},
                            .version = FORETRACE_VERSION,
                            .most_bytes = options.most_megabytes * 1'000'000};
  if (answers.options.step.kind == driver::StepChoice::Kind::number) {
    input.step_number = answers.options.step.number;
  }
  for (std::string& trace : input.traces) trace = std::string(file_name_of(trace));
  const Result<explorer::Page> page = explorer::make_page(input);
  if (!page.ok()) return app::failure(page.error());
  const Status written =
      app::write_file(options.output, [&page](const std::function<bool(std::string_view)>& sink) {
        return sink(page->html) ? ok_status()
                                : Status(Error{ErrorCode::io, "the page could not be written"});
      });
  if (!written.ok()) return app::failure(written.error());
  for (const std::string& reason : page->left_out) app::tell("not in the page: " + reason);
  return app::answer(fmt::format("{}: {:.2f} MB, {} what-ifs to try in it\n", options.output,
                                 static_cast<double>(page->html.size()) / 1e6, page->carried));
}

int run(const Options& options) {
  app::start_logging(options.common);
  std::vector<std::string> inputs = app::files_of_what_ifs(options.apply);
  inputs.insert(inputs.end(), options.trace.paths.begin(), options.trace.paths.end());
  if (const Status status = app::check_outputs(std::array{options.output}, inputs); !status.ok()) {
    return app::failure(status.error());
  }
  const Result<std::vector<driver::WhatIf>> stack = stack_of(options);
  if (!stack.ok()) return app::failure(stack.error());
  const Result<Answers> answers = answers_of(options, *stack);
  return answers.ok() ? write(options, *stack, *answers) : app::failure(answers.error());
}

std::function<int()> setup(app::Arguments& cli) {
  const auto options = std::make_shared<Options>();
  app::add_trace(cli, options->trace);
  cli.add_option("-a,--apply", options->apply,
                 "a what-if that the page opens with, NAME[:key=value,...] or @FILE.json; may be "
                 "repeated")
      .type_name("WHATIF");
  cli.add_option("-o,--output", options->output, "the page: one HTML file that needs nothing else")
      .type_name("FILE")
      .required();
  cli.add_option("--top", options->top, "carry this many of the best what-ifs (12)")
      .type_name("N")
      .in_range(0, 100);
  cli.add_option("--max-size", options->most_megabytes,
                 "beyond so many MB the least useful what-ifs keep their figures only (8)")
      .type_name("MB")
      .in_range(1, 1000);
  app::add_run(cli, options->trace);
  app::add_common(cli, options->common);
  constexpr app::Example examples[] = {
      {"foretrace report trace.json.gz -o run.html", "a page to send, to look at and to play with"},
      {"foretrace report trace.json.gz --apply mixed_precision --apply fused_optimizer -o run.html",
       "it opens with these two together"}};
  cli.add_examples(examples);
  return [options] { return run(*options); };
}

}  // namespace

extern const CommandInfo report;
const CommandInfo report = {"report", "write a web page that shows a run and simulates what-ifs",
                            setup};

}  // namespace foretrace::commands
