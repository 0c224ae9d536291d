#include "apps/cli/other_pages.h"

#include <utility>
#include <vector>

#include "apps/cli/names/configs.h"
#include "apps/cli/output/answers.h"
#include "apps/cli/output/busy.h"
#include "apps/cli/output/outputs.h"
#include "apps/explorer/scenario_page.h"
#include "apps/explorer/sweep_page.h"
#include "apps/report/pages/cluster/scenario.h"
#include "apps/report/pages/cluster/sweep.h"
#include "apps/report/writers.h"
#include "apps/sweep/store/select.h"
#include "models/jobs/figures/scenario_answer.h"

namespace foretrace::app {

Result<explorer::Page> scenario_page(const std::string& path, const std::string& version,
                                     const CommonOptions& common) {
  FORETRACE_TRY(const CataloguePtr known, catalogue());
  FORETRACE_TRY(const Scenario scenario, read_scenario_of_alike_ranks(*known, path));
  FORETRACE_TRY(const ScenarioAnswer answer, while_busy(common, "simulating the step",
                                                        [&] { return answer_scenario(scenario); }));
  const report::Page page = report::scenario_page({scenario, answer});
  return explorer::make_scenario_page(
      {scenario, answer, report::html_of(page), report::json_of(page), version});
}

Result<explorer::Page> sweep_page(const std::string& folder, const std::string& version) {
  FORETRACE_TRY(const sweeping::StoredSweep stored, sweeping::open_stored(folder));
  constexpr std::size_t rows = 20;
  constexpr std::size_t most_reasons = 3;
  std::vector<sweeping::SelectedPoint> points;
  const auto counts =
      sweeping::select_points(stored, {.top = rows}, [&](const sweeping::SelectedPoint& point) {
        points.push_back(point);
        return ok_status();
      });
  FORETRACE_TRY(counts);
  FORETRACE_TRY(auto failures, stored.store.reasons(most_reasons));
  const report::SweepAnswer answer{stored.sweep, *counts, std::move(points), std::move(failures),
                                   nullptr};
  return explorer::make_sweep_page(
      {stored, folder, report::html_of(report::sweep_page(answer)), version});
}

Exit answer_file(const FileKind& kind, const std::string& path, const CommonOptions& common) {
  FORETRACE_TRY(const auto known, catalogue());
  const auto page = kind.page(*known, path);
  FORETRACE_TRY(page);
  return answer(*page, common);
}

}  // namespace foretrace::app
