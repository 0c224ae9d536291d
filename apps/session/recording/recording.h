// A recorded run: its events, its graph, and the accelerator it ran on.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/hardware/catalogue/catalogue.h"
#include "trace/assemble/build_graph.h"
#include "trace/ranks/job.h"
#include "trace/table/events.h"
#include "trace/table/import_report.h"
#include "trace/table/silences.h"

namespace foretrace {

/// What is known of the single ranks of a job.
struct JobFacts {
  std::vector<std::string> paths;  ///< per rank
  std::vector<trace::RankFacts> ranks;
  std::vector<trace::RankCollectives> collectives;  ///< per rank
  trace::JobMatching matching;
};

/// What the profiler's own work on the host was found to be.
struct Unprofiled {
  std::int64_t step_ns = 0;           ///< as given: of a step without a profiler
  std::int64_t recorded_step_ns = 0;  ///< as simulated before
  std::int64_t cost_ns = 0;           ///< of a recorded event of the host
  double events_per_step = 0;
  double share_of_host = 0;  ///< of the host's time that was taken out
};

struct ModelledStep;

/// A recorded run: its events, its graph, and the accelerator it ran on where that is known.
struct Recording {
  std::string path;
  trace::EventTable events;
  trace::ImportReport report;
  trace::BuiltGraph built;
  std::optional<Accelerator> accelerator;
  CataloguePtr known{};            ///< the catalogue it was loaded with; may be null
  std::string accelerator_note{};  ///< not empty: no file has its name, this is a like product
  std::vector<trace::Silence> one_off{};   ///< silences that do not come again; of one rank
  bool without_one_off = false;            ///< they are cut out; their times are those recorded
  std::optional<Unprofiled> unprofiled{};  ///< the graph is that of the run without a profiler
  std::shared_ptr<const ModelledStep> modelled{};  ///< null: it was recorded; see modelled.h
  std::shared_ptr<const JobFacts> job{};           ///< null: one rank; else `events` has no rows

  [[nodiscard]] const Catalogue& catalogue() const { return known ? *known : no_catalogue(); }
  [[nodiscard]] const TaskGraph& graph() const { return built.graph; }
};

}  // namespace foretrace
