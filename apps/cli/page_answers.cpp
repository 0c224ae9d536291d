#include "apps/cli/page_answers.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "apps/cli/names/configs.h"
#include "apps/cli/names/names.h"
#include "apps/cli/output/busy.h"
#include "apps/explorer/cards.h"
#include "sim/core/text.h"

namespace foretrace::app {
namespace {

using Predictions = std::map<const WhatIfInfo*, Prediction>;

/// The what-if of the ranking that the stack is; empty: it is none of them.
std::string ranked_name(const PageAnswers& answers) {
  if (answers.stack.size() != 1) return {};
  const WhatIf& asked = answers.stack.front();
  const auto defaults = with_defaults(*asked.info);
  if (!defaults || defaults->parameters.texts() != asked.parameters.texts()) return {};
  const auto is_it = [&](const Ranked& row) { return row.info == asked.info; };
  return std::ranges::any_of(answers.ranking.rows, is_it) ? std::string(asked.info->name)
                                                          : std::string();
}

/// The stack that was asked for, then the best of the ranking.
Status add_variants(const PageOptions& page, Predictions& ranked, PageAnswers& answers) {
  FORETRACE_TRY(const HowTos& known, how_tos());
  const std::string asked = ranked_name(answers);
  if (!answers.stack.empty() && asked.empty()) {
    FORETRACE_TRY(Prediction prediction,
                  predict(answers.recording, answers.stack, answers.options, &answers.replay));
    answers.variants.push_back(
        explorer::variant_of("applied", page.apply, std::move(prediction), known));
  }
  std::size_t left = page.top;
  for (const Ranked& row : answers.ranking.rows) {
    const std::string name(row.info->name);
    if (left == 0 && name != asked) continue;
    left -= left == 0 ? 0 : 1;
    answers.variants.push_back(
        explorer::variant_of(name, {name}, std::move(ranked.at(row.info)), known));
  }
  return ok_status();
}

/// The variant that the page opens with: the stack, or the first that gains.
std::string shown_of(const PageAnswers& answers) {
  std::string asked = ranked_name(answers);
  if (!asked.empty()) return asked;
  if (!answers.stack.empty()) return "applied";
  for (const Ranked& row : answers.ranking.rows) {
    if (!row.is_noise && row.speedup > 1) return std::string(row.info->name);
  }
  return {};
}

Result<std::vector<WhatIf>> stack_of(const PageOptions& page) {
  FORETRACE_TRY(std::vector<WhatIfSpec> specs, parse_stack(page.apply));
  FORETRACE_TRY(resolve_names(specs));
  return check_stack(specs);
}

/// How the trace is read and answered, as the command line takes it: the commands that a page shows
/// answer what it shows.
std::vector<std::string> words_of(const TraceOptions& trace) {
  const TraceOptions usual;
  std::vector<std::string> words;
  const std::pair<bool, const char*> flags[] = {
      {trace.strict, "--strict"},
      {trace.no_recorded_latency, "--no-recorded-latency"},
      {trace.without_one_off, "--without-one-off"}};
  for (const auto& [is_given, name] : flags) {
    if (is_given) words.emplace_back(name);
  }
  const std::pair<const char*, std::string TraceOptions::*> texts[] = {
      {"--unprofiled-step", &TraceOptions::unprofiled_step},
      {"--step", &TraceOptions::step},
      {"--engine", &TraceOptions::engine},
      {"--compute-rate", &TraceOptions::compute_rate},
      {"--memory-bandwidth", &TraceOptions::memory_bandwidth},
      {"--network-bandwidth", &TraceOptions::network_bandwidth}};
  for (const auto& [name, text] : texts) {
    if (trace.*text == usual.*text) continue;
    words.emplace_back(name);
    words.push_back(trace.*text);
  }
  return words;
}

}  // namespace

void add_page_options(Arguments& arguments, PageOptions& options) {
  arguments
      .add_option("-a,--apply", options.apply,
                  "a what-if that the page opens with, NAME[:key=value,...] or @FILE.json; may be "
                  "repeated")
      .type_name("WHATIF");
  arguments.add_option("--top", options.top, "carry this many of the best what-ifs (12)")
      .type_name("N")
      .in_range(0, 100);
  arguments
      .add_option("--max-size", options.most_megabytes,
                  "beyond so many MB the least useful what-ifs keep their figures only (8)")
      .type_name("MB")
      .in_range(1, 1000);
}

Result<PageAnswers> page_answers(const PageOptions& page, const TraceOptions& trace,
                                 const CommonOptions& common) {
  FORETRACE_TRY(std::vector<WhatIf> stack, stack_of(page));
  FORETRACE_TRY(const RunOptions options, run_options(trace));
  FORETRACE_TRY(Recording recording, load_trace(trace, common));
  FORETRACE_TRY(Replay replay, foretrace::replay(recording, options));
  PageAnswers answers{std::move(recording), options, std::move(replay), {}, std::move(stack), {}};
  Predictions ranked;
  Result<Ranking> ranking = while_busy(common, "trying every what-if", [&] {
    const auto keep = [&ranked](const WhatIfInfo& info, Prediction prediction) {
      ranked.emplace(&info, std::move(prediction));
    };
    return rank_all(answers.recording, answers.replay, answers.options, RankHow{.keep = keep});
  });
  FORETRACE_TRY(ranking);
  answers.ranking = *std::move(ranking);
  FORETRACE_TRY(add_variants(page, ranked, answers));
  return answers;
}

Result<explorer::PageInput> page_input(const PageOptions& page, const TraceOptions& trace,
                                       PageAnswers& answers) {
  explorer::PageInput input{.recording = answers.recording,
                            .replay = answers.replay,
                            .traces = trace.paths,
                            .ranking = &answers.ranking,
                            .variants = std::move(answers.variants),
                            .shown = shown_of(answers),
                            .cards = {},
                            .step_number = {},
                            .version = {},
                            .most_bytes = page.most_megabytes * 1'000'000};
  if (answers.options.step.kind == StepChoice::Kind::number) {
    input.step_number = answers.options.step.number;
  }
  for (std::string& path : input.traces) path = std::string(file_name_of(path));
  std::ranges::move(words_of(trace), std::back_inserter(input.traces));
  FORETRACE_TRY(explorer::answer_all(input, answers.options));
  return input;
}

}  // namespace foretrace::app
