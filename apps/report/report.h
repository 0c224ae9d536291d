// Pages of text: what a person reads after a command. First line first, tables after it.
#pragma once

#include <string>

#include "apps/driver/analysis.h"
#include "apps/driver/answers/communication.h"
#include "apps/driver/answers/memory_budget.h"
#include "apps/driver/answers/ranking.h"
#include "apps/driver/inspect.h"
#include "apps/driver/load.h"
#include "apps/driver/predict.h"

namespace foretrace::app {

/// "name.json.gz" of "/some/where/name.json.gz".
[[nodiscard]] std::string file_name(const std::string& path);

/// The first line alone, as --quiet prints it.
[[nodiscard]] std::string inspect_headline(const driver::Inspection& found);
[[nodiscard]] std::string inspect_page(const driver::Inspection& found);
/// Stages of a step and the modules below them, repeats folded; one line with the coverage.
[[nodiscard]] std::string modules_page(const driver::Inspection& found);
[[nodiscard]] std::string modules_headline(const driver::Inspection& found);

/// Device memory of a trace: peak, who holds it, what is reserved, where it would fit.
[[nodiscard]] std::string memory_headline(const driver::Inspection& found);
[[nodiscard]] std::string memory_page(const driver::Inspection& found);

[[nodiscard]] std::string replay_headline(const driver::Replay& replay);
[[nodiscard]] std::string replay_page(const driver::Recording& recording,
                                      const driver::Replay& replay,
                                      const driver::Analysis& analysis, bool all_steps);

/// "fits in 2.0 GiB with dtr: step 126.6 ms -> 129.4 ms (+2.2 %)".
[[nodiscard]] std::string budget_headline(const driver::BudgetAnswer& answer);
/// Its rows, without the headline.
[[nodiscard]] std::string budget_rows(const driver::BudgetAnswer& answer);
[[nodiscard]] std::string budget_page(const driver::Recording& recording,
                                      const driver::Replay& replay,
                                      const driver::BudgetAnswer& answer);

/// Every rank of a job beside its simulation; empty for one rank.
[[nodiscard]] std::string ranks_table(const driver::Recording& recording,
                                      const driver::Replay& replay);

[[nodiscard]] std::string communication_headline(const driver::Recording& recording,
                                                 const driver::Communication& communication);
/// Of a job: what its collectives cost, who comes late, which hosts stall.
[[nodiscard]] std::string communication_page(const driver::Recording& recording,
                                             const driver::Replay& replay,
                                             const driver::Communication& communication);

[[nodiscard]] std::string prediction_headline(const driver::Replay& replay,
                                              const driver::Prediction& prediction);
/// What a page about a prediction shows.
struct PredictionParts {
  const driver::Recording& recording;
  const driver::Replay& replay;
  const driver::Analysis& baseline;
  const driver::Prediction& prediction;
  const driver::Analysis& predicted;
};
[[nodiscard]] std::string prediction_page(const PredictionParts& parts);

[[nodiscard]] std::string ranking_headline(const driver::Replay& replay,
                                           const driver::Ranking& ranking);
[[nodiscard]] std::string ranking_page(const driver::Recording& recording,
                                       const driver::Replay& replay,
                                       const driver::Ranking& ranking);

[[nodiscard]] std::string path_headline(const driver::PathReport& report);
[[nodiscard]] std::string path_page(const driver::Recording& recording,
                                    const driver::Replay& replay, const driver::PathReport& report);

}  // namespace foretrace::app
