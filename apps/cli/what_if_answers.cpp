#include "apps/cli/what_if_answers.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "apps/cli/arguments/help.h"
#include "apps/cli/names/names.h"
#include "apps/cli/output/answers.h"
#include "apps/cli/output/busy.h"
#include "apps/questions/memory/fit.h"
#include "apps/questions/memory/max_batch.h"
#include "apps/questions/search/best_set.h"
#include "apps/report/pages/result.h"
#include "models/whatifs/what_if_spec.h"
#include "sim/core/text.h"

namespace foretrace::app {
namespace {

constexpr std::array<std::string_view, 2> orders = {"time", "memory"};

bool is_size(std::string_view fit) { return is_digit(fit.front()) || fit.front() == '.'; }

/// The memory that --fit names, a size or an accelerator by any of its names; without it that of
/// the accelerator that the stack leads to, if it is known.
Result<std::optional<MemoryTarget>> target_of(const Questions& questions, const Session& session,
                                              std::span<const WhatIf> stack) {
  FORETRACE_TRY(const auto device, accelerator_after(session, stack));
  const std::string& text = questions.fit;
  if (text.empty()) return device ? std::optional(foretrace::target_of(*device)) : std::nullopt;
  FORETRACE_TRY(const std::string name, is_size(text) ? text : accelerator_named(text));
  FORETRACE_TRY(auto target, parse_target(session.recording().catalogue(), name, device));
  return std::optional(std::move(target));
}

/// The stack with the move to the accelerator that --fit names, as what-ifs and as they are written.
struct FitStack {
  std::vector<WhatIf> stack;
  std::vector<std::string> texts;
};
Result<FitStack> stack_on_fit(const Questions& questions, const Session& session,
                              std::span<const WhatIf> stack, std::span<const std::string> texts) {
  FitStack moved{{stack.begin(), stack.end()}, {texts.begin(), texts.end()}};
  if (questions.fit.empty() || is_size(questions.fit)) return moved;
  FORETRACE_TRY(const std::string name, accelerator_named(questions.fit));
  FORETRACE_TRY(auto move, move_to_fit(session, stack, name));
  if (!move) return moved;
  moved.texts.push_back(text_of(swap_to(name)));
  moved.stack.push_back(*std::move(move));
  return moved;
}

/// A set that is the answer, in full: as if it had been asked for with --apply.
Exit answer_set(const CommonOptions& common, const Session& session, const std::vector<WhatIf>& set,
                report::ResultAnswer result, ExitCode code) {
  if (!common.json || set.empty()) return answer(report::result_page(result), common, code);
  FORETRACE_TRY(const auto full, session.ask(set));
  result.predicted = &full;
  return answer(report::result_page(result), common, code);
}

Exit answer_ranking(const Questions& questions, const CommonOptions& common,
                    const Session& session) {
  const auto by = questions.by == "memory" ? RankBy::memory : RankBy::time;
  FORETRACE_TRY(const auto ranking, while_busy(common, "trying every what-if", [&] {
                  return rank_all(session, {.by = by, .examples = questions.examples});
                }));
  report::ResultAnswer result{.session = session};
  result.ranking = &ranking;
  if (!questions.pairs) {
    return answer(report::result_page(result), common,
                  ranking.rows.empty() ? exit_answer_is_no : exit_done);
  }
  FORETRACE_TRY(const auto pairs, while_busy(common, "trying what-ifs two at a time", [&] {
                  return rank_pairs(session, ranking, questions.top);
                }));
  result.pairs = &pairs;
  result.rank_all = questions.rank_all;
  return answer(report::result_page(result), common,
                pairs.rows.empty() ? exit_answer_is_no : exit_done);
}

Exit answer_fit(const Questions& questions, const CommonOptions& common, const Session& session,
                std::span<const WhatIf> stack, std::span<const std::string> texts) {
  FORETRACE_TRY(const auto target, target_of(questions, session, stack));
  const auto found = fit_memory(session, stack, *target, {}, progress_bar(common, "sets tried"));
  clear_progress();
  FORETRACE_TRY(found);
  return answer_set(common, session,
                    found->best ? with_set(stack, *found, *found->best) : std::vector<WhatIf>{},
                    {.session = session, .fit = &*found, .what_ifs = texts},
                    found->best || found->fits_now() ? exit_done : exit_answer_is_no);
}

Exit answer_search(const Questions& questions, const CommonOptions& common, const Session& session,
                   std::span<const WhatIf> stack, std::span<const std::string> texts) {
  BestSetQuestion question{.by = questions.by == "memory" ? RankBy::memory : RankBy::time,
                           .most_members = questions.members,
                           .most_trials = questions.trials,
                           .target = {}};
  for (const std::string& name : questions.without) {
    std::vector<WhatIfSpec> one = {{name, {}}};
    FORETRACE_TRY(resolve_names(one));
    question.without.push_back(one.front().name);
  }
  if (!questions.fit.empty()) {
    FORETRACE_TRY(const auto target, target_of(questions, session, stack));
    question.target = target;
  }
  const auto found = find_best_set(session, stack, question, progress_bar(common, "sets tried"));
  clear_progress();
  FORETRACE_TRY(found);
  return answer_set(
      common, session,
      found->best ? what_ifs_of_set(stack, *found, *found->best) : std::vector<WhatIf>{},
      {.session = session, .best_set = &*found, .what_ifs = texts},
      found->best ? exit_done : exit_answer_is_no);
}

Exit answer_max_batch(const Questions& questions, const CommonOptions& common,
                      const Session& session, std::span<const WhatIf> stack) {
  FORETRACE_TRY(const auto target, target_of(questions, session, stack));
  if (!target) {
    return Error{ErrorCode::bad_usage,
                 "--max-batch: unknown GPU; add --fit SIZE with its memory, or --fit NAME "
                 "(foretrace list accelerators)"};
  }
  const auto found = find_max_batch(session, stack, *target, progress_bar(common, "batches tried"));
  clear_progress();
  FORETRACE_TRY(found);
  return answer(report::result_page({.session = session, .max_batch = &*found}), common,
                found->max_batch > 0 ? exit_done : exit_answer_is_no);
}

}  // namespace

void add_questions(Arguments& arguments, Questions& questions) {
  arguments.add_flag(
      "--rank-all", questions.rank_all,
      "try every what-if that applies, alone and with its defaults; the largest gain first");
  arguments.add_flag("--examples", questions.examples,
                     "with --rank-all: include what-ifs that need a value, with the example "
                     "settings that foretrace explain shows");
  arguments
      .add_option("--by", questions.by,
                  "rank by time (default) or by memory: the peak of live bytes")
      .type_name("ORDER")
      .one_of(orders);
  const Option pairs =
      arguments.add_flag("--pairs", questions.pairs,
                         "try the best what-ifs two at a time, and say where gains do not add up");
  arguments
      .add_option("--top", questions.top,
                  "with --pairs: how many of the best what-ifs to combine (8)")
      .type_name("N")
      .in_range(2, 64)
      .needs(pairs);
  arguments
      .add_option("--fit", questions.fit,
                  "find the what-ifs that bring memory under SIZE at the least cost in time; SIZE: "
                  "such as 24GiB, or an accelerator, to which the run is then moved")
      .type_name("SIZE");
  const Option search =
      arguments.add_flag("--search", questions.search,
                         "find the set of what-ifs that gains most, and what each of them adds; "
                         "with --fit within SIZE, with --apply on top of it");
  arguments
      .add_option("--members", questions.members,
                  "with --search: at most this many what-ifs together (6)")
      .type_name("N")
      .in_range(1, 16)
      .needs(search);
  arguments
      .add_option("--trials", questions.trials,
                  "with --search: how many sets to simulate before only extending the best (1000)")
      .type_name("N")
      .in_range(1, 1'000'000)
      .needs(search);
  arguments
      .add_option("--without", questions.without,
                  "with --search: exclude this what-if; may be repeated")
      .type_name("NAME")
      .needs(search);
  arguments.add_flag(
      "--max-batch", questions.max_batch,
      "find the largest batch that fits the accelerator's memory, or the SIZE of --fit");
}

Status check_questions(const Questions& questions, bool has_stack) {
  const auto refused = [](std::string message) {
    return Error{ErrorCode::bad_usage, std::move(message)};
  };
  if (questions.search && (questions.ranks() || questions.max_batch)) {
    return refused(fmt::format("whatif: {} and --search are two questions, ask one at a time",
                               questions.max_batch ? "--max-batch"
                               : questions.pairs   ? "--pairs"
                                                   : "--rank-all"));
  }
  if (questions.ranks() && (questions.max_batch || !questions.fit.empty())) {
    return refused(fmt::format("whatif: {} and {} are two questions, ask one at a time",
                               questions.pairs ? "--pairs" : "--rank-all",
                               questions.max_batch ? "--max-batch" : "--fit"));
  }
  if (questions.ranks() && has_stack) {
    return refused(
        fmt::format("whatif: {} tries each what-if alone; leave out --apply and --accelerator",
                    questions.rank_all ? "--rank-all" : "--pairs"));
  }
  if (questions.by != "time" && !questions.ranks() && !questions.search) {
    return refused("whatif: --by orders a ranking; add --rank-all, --pairs or --search");
  }
  if (questions.examples && (!questions.rank_all || questions.pairs)) {
    return refused("whatif: --examples works with --rank-all only");
  }
  return ok_status();
}

Exit answer_question(const Questions& questions, const CommonOptions& common,
                     const Session& session, std::span<const WhatIf> stack,
                     std::span<const std::string> texts) {
  if (questions.ranks()) return answer_ranking(questions, common, session);
  FORETRACE_TRY(const FitStack moved, stack_on_fit(questions, session, stack, texts));
  if (questions.search) {
    return answer_search(questions, common, session, moved.stack, moved.texts);
  }
  return questions.max_batch ? answer_max_batch(questions, common, session, moved.stack)
                             : answer_fit(questions, common, session, moved.stack, moved.texts);
}

}  // namespace foretrace::app
