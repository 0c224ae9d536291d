// From trace files to a task graph, with everything that was learnt on the way.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "apps/session/recording/recording.h"
#include "models/hardware/catalogue/catalogue.h"
#include "sim/core/result.h"
#include "trace/assemble/build_graph.h"

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
