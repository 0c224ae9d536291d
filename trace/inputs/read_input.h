// The traces that one file holds: itself, the processes in it, or the members of an archive.
#pragma once

#include <string>
#include <vector>

#include "sim/core/result.h"
#include "trace/table/loaded_trace.h"

namespace foretrace::trace {

/// A trace and where it was found: "job.tar.gz:rank0.json", "run.sqlite (rank 1)".
struct FoundTrace {
  std::string path;
  LoadedTrace trace;
  bool is_named_by_rank = true;  ///< a number in the name of its file may be its rank
};

/// Reads every trace of a file, at least one. Members of an archive that are no traces are left out
/// and told; of several processes in one recording, the first has what was said of the file.
/// Errors: no trace in it.
[[nodiscard]] Result<std::vector<FoundTrace>> read_input(const std::string& path,
                                                         const ReadOptions& options);

}  // namespace foretrace::trace
