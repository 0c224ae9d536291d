// The pages that commands print. A page is a list of sections (pages/*.cpp), each built from what
// the driver computed by one file of sections/.
#pragma once

#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/driver/analysis.h"
#include "apps/driver/answers/best_set.h"
#include "apps/driver/answers/communication.h"
#include "apps/driver/answers/fit.h"
#include "apps/driver/answers/max_batch.h"
#include "apps/driver/answers/memory_budget.h"
#include "apps/driver/answers/ranking.h"
#include "apps/driver/compare/compare.h"
#include "apps/driver/fleet/federated.h"
#include "apps/driver/fleet/storage.h"
#include "apps/driver/inspect.h"
#include "apps/driver/load.h"
#include "apps/driver/mapping/mapping.h"
#include "apps/driver/node_job/node_answer.h"
#include "apps/driver/plan/plan_search.h"
#include "apps/driver/plan/recorded_plans.h"
#include "apps/driver/plan/stage_search.h"
#include "apps/driver/predict.h"
#include "apps/driver/scenario/scenario_answer.h"
#include "apps/driver/scheduler/schedule.h"
#include "apps/driver/serving/serving.h"
#include "apps/driver/serving/streams.h"
#include "apps/driver/sweep/run.h"
#include "apps/driver/sweep/store/select.h"
#include "apps/driver/training/time_to_train.h"
#include "apps/driver/validate/ablation.h"
#include "apps/driver/validate/formats.h"
#include "apps/driver/validate/validate_jobs.h"
#include "apps/driver/validate/validation.h"
#include "apps/driver/validate/what_if_table.h"
#include "apps/report/section.h"

namespace foretrace::report {

/// Builds sections of a page from what it is about; none where that has nothing of the kind.
template <typename Answer>
using Builder = Sections(const Answer&);

/// Sections in the order of a page, then the others of a document, which only it shows.
template <typename Answer>
[[nodiscard]] Sections build(std::span<Builder<Answer>* const> shown,
                             std::span<Builder<Answer>* const> document, const Answer& answer) {
  Sections sections;
  for (Builder<Answer>* const builder : shown) {
    std::ranges::move(builder(answer), std::back_inserter(sections));
  }
  for (Builder<Answer>* const builder : document) {
    if (std::ranges::find(shown, builder) != shown.end()) continue;
    for (Section& section : builder(answer)) {
      section.show = Show::never;
      sections.push_back(std::move(section));
    }
  }
  return sections;
}

/// Says in the first line of the page that its answer is doubtful, and why below; nothing if there
/// is no doubt.
void say_doubts(const std::vector<driver::Doubt>& doubts, Page& page);

/// What `simulate` and `whatif` answer; pointers may be null.
struct ResultAnswer {
  const driver::Recording& recording;
  const driver::Replay& replay;
  const driver::Analysis& baseline;  ///< of the replay
  const driver::Prediction* prediction = nullptr;
  const driver::Analysis* predicted = nullptr;  ///< of the prediction
  const driver::Ranking* ranking = nullptr;
  const driver::BudgetAnswer* baseline_budget = nullptr;   ///< of the replay
  const driver::BudgetAnswer* predicted_budget = nullptr;  ///< of the prediction
  const driver::PairRanking* pairs = nullptr;
  const driver::FitAnswer* fit = nullptr;
  const driver::BatchAnswer* max_batch = nullptr;
  const driver::BestSetAnswer* best_set = nullptr;
  std::span<const std::string> what_ifs{};  ///< as --apply takes them
  bool all_steps = false;                   ///< every step beside its simulation
  bool rank_all = false;                    ///< the ranking is asked for beside pairs
  std::string_view timeline{};              ///< where it was written; empty: nowhere
};
/// Of the recording, and of the what-ifs that the answer is about.
[[nodiscard]] std::vector<driver::Doubt> all_doubts(const ResultAnswer& answer);
/// foretrace.result/2. The question that was asked comes first: the last pointer that is not null.
[[nodiscard]] Page result_page(const ResultAnswer& answer);

/// What `simulate` answers to a scenario.
struct ScenarioPart {
  const driver::Scenario& scenario;
  const driver::ScenarioAnswer& answer;
  std::string_view timeline{};       ///< where it was written; empty: nowhere
  const Catalogue* known = nullptr;  ///< what boards draw; null: energy is left out
};
/// foretrace.result/2.
[[nodiscard]] Page scenario_page(const ScenarioPart& part);

/// What `plan` answers: one search, or one per number of devices.
struct PlansPart {
  const driver::Scenario& scenario;
  std::span<const driver::PlanAnswer> strong;  ///< of one batch
  std::span<const driver::PlanAnswer> weak;    ///< of one batch per device; empty: not asked for
};
/// foretrace.plan/2.
[[nodiscard]] Page plans_page(const PlansPart& part);

/// A training run until its target, for each batch.
struct TrainingPart {
  const driver::TrainingRun& run;
  std::span<const driver::TrainingTime> times;  ///< at least one
};
/// foretrace.training_result/1.
[[nodiscard]] Page training_page(const TrainingPart& part);

/// What `plan --stages auto` answers.
struct StagesPart {
  const driver::Scenario& scenario;
  const driver::StageAnswer& answer;
  std::string_view written{};  ///< where the best plan was written; empty: nowhere
};
/// foretrace.stages/2.
[[nodiscard]] Page stages_page(const StagesPart& part);

/// What `plan` answers of a recording.
struct RecordedPlansPart {
  const driver::Recording& recording;
  const driver::RecordedPlans& answer;
  std::size_t keep = 5;                 ///< plans that a page shows
  std::vector<driver::Doubt> doubts{};  ///< of the recording's replay
};
/// foretrace.recorded_plans/1.
[[nodiscard]] Page recorded_plans_page(const RecordedPlansPart& part);

/// What `simulate` answers to execution traces of a job's ranks.
struct NodeJobPart {
  const driver::NodeScenario& scenario;
  const driver::NodeAnswer& answer;
  std::string_view timeline{};  ///< where it was written; empty: nowhere
};
/// foretrace.node_job_result/1.
[[nodiscard]] Page node_job_page(const NodeJobPart& part);

struct PathAnswer {
  const driver::Recording& recording;
  const driver::Replay& replay;
  const driver::PathReport& report;
};
/// foretrace.critical-path/1.
[[nodiscard]] Page critical_path_page(const PathAnswer& answer);

/// Two runs side by side.
struct CompareAnswer {
  const driver::ComparedRun& before;
  const driver::ComparedRun& after;
  const driver::Comparison& comparison;
  std::vector<driver::Doubt> doubts{};
};
/// foretrace.compare/1.
[[nodiscard]] Page compare_page(const CompareAnswer& answer);

struct CommunicationAnswer {
  const driver::Recording& recording;
  const driver::Replay& replay;
  const driver::Communication& communication;
};
/// foretrace.communication/1.
[[nodiscard]] Page communication_page(const CommunicationAnswer& answer);

/// What `inspect` was asked for besides; with none of them, everything in brief.
struct InspectQuestion {
  bool memory = false;
  bool modules = false;
};
/// One trace, as `inspect` shows it.
struct InspectAnswer {
  const driver::Inspection& found;
  const InspectQuestion& question;
};
/// foretrace.inspect/1: one part per trace.
[[nodiscard]] Page inspect_page(std::span<const driver::Inspection> traces,
                                const InspectQuestion& question);

struct ValidationAnswer {
  const driver::ReplayTable& replays;
  const std::vector<driver::PairRow>& pairs;
};
/// foretrace.validation/1.
[[nodiscard]] Page validation_page(const ValidationAnswer& answer);
[[nodiscard]] Page jobs_page(const std::vector<driver::JobRow>& jobs);
[[nodiscard]] Page ablation_page(const std::vector<driver::AblatedRule>& rules);
[[nodiscard]] Page examples_page(const driver::ExampleTable& examples);
/// foretrace.formats/1.
[[nodiscard]] Page formats_page(const std::vector<driver::FormatRow>& rows);

struct ScheduleAnswer {
  const scheduling::Schedule& schedule;
  std::span<const scheduling::ScheduleRun> runs;
};
/// foretrace.schedule_result/1.
[[nodiscard]] Page schedule_page(const ScheduleAnswer& answer);

struct ServedAnswer {
  const driver::Serving& serving;
  const driver::ServingAnswer& answer;
};
/// foretrace.serving_result/1.
[[nodiscard]] Page serving_page(const ServedAnswer& answer);

struct StreamedAnswer {
  const driver::Streams& streams;
  const driver::StreamsAnswer& answer;
};
/// foretrace.streams_result/1.
[[nodiscard]] Page streams_page(const StreamedAnswer& answer);

struct MappedAnswer {
  const driver::Mapping& mapping;
  const driver::MappingAnswer& answer;
};
/// foretrace.mapping_result/1.
[[nodiscard]] Page mapping_page(const MappedAnswer& answer);

struct StoredAnswer {
  const driver::StoredInput& input;
  std::vector<std::vector<storage::EpochFigures>> runs;  ///< by cache
};
/// foretrace.storage_result/1.
[[nodiscard]] Page storage_page(const StoredAnswer& answer);

struct FederatedAnswer {
  const driver::FederatedRun& run;
  std::vector<federated::RoundFigures> figures;  ///< by policy
};
/// foretrace.federated_result/1.
[[nodiscard]] Page federated_page(const FederatedAnswer& answer);

/// Points of a sweep that are asked for, and how many there are.
struct SweepAnswer {
  const sweeping::Sweep& sweep;
  sweeping::SweepCounts counts;
  std::vector<sweeping::SelectedPoint> points;
  std::vector<sweeping::FailureCount> failures;  ///< the most frequent reasons
  const sweeping::SweepRun* run = nullptr;       ///< null: the store was only looked at
};
/// foretrace.sweep_result/2.
[[nodiscard]] Page sweep_page(const SweepAnswer& answer);

}  // namespace foretrace::report
