// Parts that several JSON documents share.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "apps/driver/analysis.h"
#include "apps/driver/answers/fit.h"
#include "apps/driver/answers/max_batch.h"
#include "apps/driver/answers/memory_budget.h"
#include "apps/driver/answers/ranking.h"
#include "apps/driver/memory_report.h"
#include "apps/driver/predict.h"
#include "apps/driver/steps.h"
#include "trace/assemble/build_graph.h"
#include "trace/table/events.h"
#include "trace/table/import_report.h"

namespace foretrace::driver {

using Json = nlohmann::ordered_json;

/// Null where a value below 0 says that it is not known.
[[nodiscard]] Json known(std::int64_t value);
/// Path, format, rank, devices.
[[nodiscard]] Json input_json(const std::string& path, const trace::TraceInfo& info);
/// Events, dropped, repaired, reasons, warnings.
[[nodiscard]] Json import_json(const trace::ImportReport& report);
/// Honesty counters; reactions are left out if null.
[[nodiscard]] Json honesty_json(const trace::Honesty& honesty, const Reactions* reactions);
/// All of them, and the reasons to doubt what rests on the graph.
[[nodiscard]] Json honesty_json(const Recording& recording, const Replay& replay);
/// step_ns, host and device period and the times of every step.
[[nodiscard]] Json steps_json(const StepTimes& times, const StepAnswer& answer);

/// Every rank of a job: steps, clock, collectives.
[[nodiscard]] Json ranks_json(const Recording& recording, const StepTimes& measured,
                              const StepTimes& simulated);
/// Groups of ranks, and how their collectives were matched.
[[nodiscard]] Json communicators_json(const JobFacts& job);

/// Adds breakdown, free, provenance and memory to the object of a run.
void add_analysis(const Analysis& analysis, Json& object);
/// What-ifs alone, in twos, in sets that fit, and at other batches.
[[nodiscard]] Json ranking_json(const Ranking& ranking);
[[nodiscard]] Json pairs_json(const PairRanking& pairs);
[[nodiscard]] Json fit_json(const FitAnswer& answer);
[[nodiscard]] Json max_batch_json(const BatchAnswer& answer);

/// One object per device: peak, who holds it, reserved memory, where it would fit.
[[nodiscard]] Json memory_reports_json(const std::vector<MemoryReport>& reports);

/// Whether a run fits a budget, and what it costs.
[[nodiscard]] Json budget_json(const BudgetAnswer& answer);

}  // namespace foretrace::driver
