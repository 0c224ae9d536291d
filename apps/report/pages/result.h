// The page of `result`.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/questions/memory/fit.h"
#include "apps/questions/memory/max_batch.h"
#include "apps/questions/memory/memory_budget.h"
#include "apps/questions/search/best_set.h"
#include "apps/questions/search/ranking.h"
#include "apps/report/section.h"
#include "apps/session/narrower.h"
#include "apps/session/replay/doubt.h"
#include "apps/session/session.h"

namespace foretrace::report {

/// What `simulate` and `whatif` answer; pointers may be null.
struct ResultAnswer {
  const Session& session;
  const Answer* predicted = nullptr;
  const Ranking* ranking = nullptr;
  const BudgetAnswer* baseline_budget = nullptr;   ///< of the replay
  const BudgetAnswer* predicted_budget = nullptr;  ///< of the prediction
  const PairRanking* pairs = nullptr;
  const FitAnswer* fit = nullptr;
  const BatchAnswer* max_batch = nullptr;
  const BestSetAnswer* best_set = nullptr;
  const NarrowerAnswer* narrower = nullptr;  ///< of the range of `predicted`
  std::span<const std::string> what_ifs{};   ///< as --apply takes them
  std::string_view table_label{};            ///< stands for a table that is a parameter's text
  bool all_steps = false;                    ///< every step beside its simulation
  bool rank_all = false;                     ///< the ranking is asked for beside pairs
  std::string_view timeline{};               ///< where it was written; empty: nowhere
};
/// Of the recording, and of the what-ifs that the answer is about.
[[nodiscard]] std::vector<Doubt> all_doubts(const ResultAnswer& answer);
/// foretrace.result/2. The question that was asked comes first: the last pointer that is not null.
[[nodiscard]] Page result_page(const ResultAnswer& answer);

}  // namespace foretrace::report
