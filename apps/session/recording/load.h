// From trace files to a task graph, with everything that was learnt on the way.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/hardware/catalogue/catalogue.h"
#include "sim/core/result.h"
#include "trace/assemble/build_graph.h"
#include "trace/ranks/job.h"
#include "trace/table/events.h"
#include "trace/table/import_report.h"
#include "trace/table/silences.h"

namespace foretrace {

struct LoadOptions {
  CataloguePtr catalogue{};  ///< what accelerators there are; null: none is recognized
  bool strict = false;       ///< any dropped event is an error
  trace::BuildOptions build{};
  bool memory_graph = false;     ///< a timeline of memory alone becomes a graph of tensors
  bool without_one_off = false;  ///< one-off silences are cut out of the trace
  /// What a step takes without a profiler: its work is taken out of the host's times
  /// (unprofiled_step.h). 0: not known.
  std::int64_t unprofiled_step_ns = 0;
  /// Refuses inputs that take more memory than trace/io/read_budget.h gives them. For a process
  /// that does nothing else meanwhile.
  bool bounded_memory = false;
  /// Called now and then with bytes read and the file's size (0 if unknown).
  std::function<void(std::uint64_t, std::uint64_t)> progress{};
};

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
  std::shared_ptr<const JobFacts> job{};   ///< null: one rank; else `events` has no rows

  [[nodiscard]] const Catalogue& catalogue() const { return known ? *known : no_catalogue(); }
  [[nodiscard]] const TaskGraph& graph() const { return built.graph; }
};

/// How one file is read under these options, with a budget of its own.
[[nodiscard]] trace::ReadOptions reading_of(const LoadOptions& options);

/// One recording. A folder, an archive, a manifest or a file of several processes gives a job if
/// there is more than one trace in it.
[[nodiscard]] Result<Recording> load(const std::string& path, const LoadOptions& options = {});
/// The same, or the ranks of a job: several inputs. Progress counts files.
[[nodiscard]] Result<Recording> load_inputs(std::span<const std::string> inputs,
                                            const LoadOptions& options = {});
/// The inputs as a job, even if they are one trace.
[[nodiscard]] Result<Recording> load_job(std::span<const std::string> inputs,
                                         const LoadOptions& options = {});

}  // namespace foretrace
