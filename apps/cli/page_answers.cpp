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

using Answers = std::map<const WhatIfInfo*, Answer>;
using Stack = std::vector<WhatIf>;

/// The what-if of the ranking that the stack is; empty: it is none of them.
std::string ranked_name(const Stack& stack, const Ranking& ranking) {
  if (stack.size() != 1) return {};
  const WhatIf& asked = stack.front();
  const auto defaults = with_defaults(*asked.info);
  if (!defaults || defaults->parameters.texts() != asked.parameters.texts()) return {};
  const auto is_it = [&](const Ranked& row) { return row.info == asked.info; };
  return std::ranges::any_of(ranking.rows, is_it) ? std::string(asked.info->name) : std::string();
}

/// The stack that was asked for, then the best of the ranking; and which of them the page opens
/// with: the stack, or the first that is worth it.
Status add_variants(const PageOptions& page, const Stack& stack, Answers& ranked,
                    explorer::PageInput& input) {
  FORETRACE_TRY(const HowTos& known, how_tos());
  const std::string asked = ranked_name(stack, *input.ranking);
  input.shown = asked;
  if (!stack.empty() && asked.empty()) {
    FORETRACE_TRY(Answer answer, input.session.ask(stack));
    input.shown = "applied";
    input.variants.push_back(explorer::variant_of("applied", page.apply, std::move(answer), known));
  }
  std::size_t left = page.top;
  for (const Ranked& row : input.ranking->rows) {
    const std::string name(row.info->name);
    if (stack.empty() && input.shown.empty() && !row.is_noise && is_worth_it(row)) {
      input.shown = name;
    }
    if (left == 0 && name != asked) continue;
    left -= left == 0 ? 0 : 1;
    input.variants.push_back(
        explorer::variant_of(name, {name}, std::move(ranked.at(row.info)), known));
  }
  return ok_status();
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
  arguments.add_option("--top", options.top, "include this many of the best what-ifs (12)")
      .type_name("N")
      .in_range(0, 100);
  arguments
      .add_option(
          "--max-size", options.most_megabytes,
          "size limit in MB (8): beyond it, the least useful what-ifs keep their figures only")
      .type_name("MB")
      .in_range(1, 1000);
}

Result<explorer::PageInput> page_of_run(const PageOptions& page, const TraceOptions& trace,
                                        const CommonOptions& common) {
  FORETRACE_TRY(const Stack stack, stack_of(page));
  FORETRACE_TRY(Session session, open_session(trace, common));
  Answers ranked;
  Result<Ranking> ranking = while_busy(common, "trying every what-if", [&] {
    return rank_all(session, {.keep = [&ranked](const WhatIfInfo& info, Answer answer) {
                      ranked.emplace(&info, std::move(answer));
                    }});
  });
  FORETRACE_TRY(ranking);
  explorer::PageInput input{.session = std::move(session),
                            .traces = trace.paths,
                            .ranking = *std::move(ranking),
                            .variants = {},
                            .shown = {},
                            .cards = {},
                            .step_number = {},
                            .version = {},
                            .most_bytes = page.most_megabytes * 1'000'000};
  FORETRACE_TRY(add_variants(page, stack, ranked, input));
  const StepChoice& step = input.session.options().step;
  if (step.kind == StepChoice::Kind::number) input.step_number = step.number;
  for (std::string& path : input.traces) path = std::string(file_name_of(path));
  std::ranges::move(words_of(trace), std::back_inserter(input.traces));
  FORETRACE_TRY(explorer::tell_all(input));
  return input;
}

}  // namespace foretrace::app
