#include "apps/cli/output/timelines.h"

#include <deque>
#include <utility>
#include <vector>

#include <spdlog/spdlog.h>

#include "apps/cli/output/console.h"
#include "apps/questions/memory/budget_timeline.h"

namespace foretrace::app {

void add_timeline(Arguments& arguments, std::string& path) {
  arguments
      .add_option("--timeline", path,
                  "write the simulated timeline with its dependencies, for ui.perfetto.dev")
      .type_name("FILE");
}

Status write_timeline(const std::string& path, std::span<const ChromeTraceView> views) {
  return path.empty() ? ok_status() : write_file(path, [&](const TextSink& sink) {
    return write_chrome_trace(views, sink);
  });
}

Status write_timeline(const std::string& path, const Session& session, const Answer* answer) {
  if (path.empty()) return ok_status();
  std::vector<ChromeTraceView> views = {{answer == nullptr ? "" : "baseline", session.graph(),
                                         session.run().timeline,
                                         memory_counters(session.memory().curves)}};
  if (answer != nullptr) {
    views.push_back({"predicted", answer->graph(), answer->run().timeline,
                     memory_counters(answer->memory().curves)});
  }
  return write_timeline(path, views);
}

Result<bool> write_budget_timeline(const std::string& path, std::span<const BudgetView> views) {
  if (path.empty()) return false;
  std::deque<BudgetTimeline> runs;  // the views refer to them
  std::vector<ChromeTraceView> drawn;
  for (const BudgetView& view : views) {
    if (!view.answer.run) {
      spdlog::warn("--timeline: the {}run stops within the memory budget and is not drawn",
                   view.label.empty() ? "" : std::string(view.label) + " ");
      continue;
    }
    FORETRACE_TRY(BudgetTimeline run, budget_timeline(*view.answer.run));
    const BudgetTimeline& kept = runs.emplace_back(std::move(run));
    drawn.push_back(
        {view.label, kept.executed.graph, kept.executed.timeline, kept.counters, kept.instants});
  }
  if (drawn.empty()) return false;
  FORETRACE_TRY(write_timeline(path, drawn));
  return true;
}

}  // namespace foretrace::app
