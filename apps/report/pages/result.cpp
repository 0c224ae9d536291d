// The pages of `simulate` and `whatif`: foretrace.result/2. To add a section, build it in
// sections/, declare it here, and put it into the lists of the pages that show it.
#include "apps/report/pages/result.h"

#include <array>

#include "apps/report/builder.h"

namespace foretrace::report {

namespace sections {
Builder<ResultAnswer> recording, replay, replay_row, replay_page, profiler, all_steps, prediction,
    breakdown, memory, applied, honesty, trust, ranks, rank_rows, flags, graph, budget, budget_page,
    ranking, pairs, fit, max_batch, best_set, narrower, timeline, energy;
}

namespace {

using namespace sections;
using List = std::span<Builder<ResultAnswer>* const>;

/// What every document has, whatever was asked, as far as it is known.
constexpr std::array document = {recording, replay,   profiler, prediction, breakdown, memory,
                                 budget,    applied,  ranking,  pairs,      fit,       max_batch,
                                 best_set,  narrower, ranks,    graph,      honesty,   energy};

constexpr std::array replay_list = {recording, replay_page, profiler, graph,     memory, rank_rows,
                                    flags,     all_steps,   energy,   breakdown, trust,  timeline};
constexpr std::array budget_list = {recording, replay_row, profiler, flags, budget_page, timeline};
constexpr std::array prediction_list = {recording,   replay_row, profiler,  prediction, graph,
                                        flags,       energy,     breakdown, memory,     applied,
                                        budget_page, narrower,   timeline};
constexpr std::array ranking_list = {recording, replay_row, profiler, flags, ranking};
constexpr std::array pairs_list = {recording, replay_row, profiler, flags, pairs};
constexpr std::array both_rankings_list = {recording, replay_row, profiler, flags, pairs, ranking};
constexpr std::array fit_list = {recording, replay_row, profiler, flags, fit};
constexpr std::array set_list = {recording, replay_row, profiler, flags, best_set};
constexpr std::array batch_list = {recording, replay_row, profiler, flags, max_batch};

struct Shown {
  List list;
  std::string main_table;
};

Shown shown_of(const ResultAnswer& answer) {
  if (answer.best_set != nullptr) return {set_list, "members"};
  if (answer.max_batch != nullptr) return {batch_list, "batches"};
  if (answer.fit != nullptr) return {fit_list, "chosen"};
  if (answer.pairs != nullptr)
    return {answer.rank_all ? List(both_rankings_list) : pairs_list, "pairs"};
  if (answer.ranking != nullptr) return {ranking_list, "ranking"};
  if (answer.predicted != nullptr) return {prediction_list, "comparison"};
  if (answer.baseline_budget != nullptr) return {budget_list, ""};
  return {replay_list, answer.all_steps ? "steps" : "breakdown"};
}

}  // namespace

Page result_page(const ResultAnswer& answer) {
  const Shown shown = shown_of(answer);
  Page page{.schema = "foretrace.result/2",
            .document_keys = {"input",           "import",    "measured",     "baseline",
                              "profiler",        "predicted", "speedup",      "time_ratio",
                              "applied",         "ranking",   "pairs",        "fit",
                              "max_batch",       "search",    "narrower",     "ranks",
                              "communicators",   "tasks",     "dependencies", "honesty",
                              "memory_rests_on", "warnings"},
            .sections = build<ResultAnswer>(shown.list, document, answer),
            .main_table = shown.main_table};
  bool is_first = true;
  for (Section& section : page.sections) {
    // Of two rankings the first is the answer.
    if (section.key == "ranking" && !is_first) {
      section.title = std::exchange(section.headline, {});
    }
    is_first = is_first && section.headline.empty();
  }
  say_doubts(all_doubts(answer), page, &answer.session.recording());
  return page;
}

}  // namespace foretrace::report
