// A job: the traces of several ranks, matched, aligned and built into one graph.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sim/core/result.h"
#include "trace/annotate/collectives/collectives.h"
#include "trace/graph/built_graph.h"
#include "trace/inputs/read_input.h"
#include "trace/ranks/matching/match.h"
#include "trace/table/events.h"

namespace foretrace::trace {

/// The trace of one rank of a job. One without times is simulated alone, never joined with others.
struct RankTrace {
  std::string path;
  std::int32_t rank = 0;
  LoadedTrace trace;
  /// Its rank was recorded, or is in its name, or it is of one list with the others. If not, only
  /// common collectives show that it belongs to them.
  bool is_told = true;
};

struct JobReadOptions {
  bool strict = false;        ///< any dropped event is an error
  std::uint32_t readers = 8;  ///< ranks that are read at the same time, at most
  /// Called now and then with ranks read and their number; of a single file with its bytes.
  std::function<void(std::uint64_t, std::uint64_t)> progress;
  std::shared_ptr<ReadBudget> budget{};  ///< of all together; null: whatever there is
};

/// Every trace of files, folders, archives and lists of recordings, as given; "-" is
/// standard input. Errors: no trace found, a file that cannot be read or is too much for memory.
[[nodiscard]] Result<std::vector<FoundTrace>> read_inputs(std::span<const std::string> inputs,
                                                          const JobReadOptions& options);

/// The same as the ranks of a job, in order of rank. The rank comes from the list, else from the
/// trace, else from the file's name, else from the order. Beside timed traces, those without times
/// of a device are left out with a warning. Errors: also two traces of one rank.
[[nodiscard]] Result<std::vector<RankTrace>> read_job(std::span<const std::string> inputs,
                                                      const JobReadOptions& options);

/// The same for traces that were read.
[[nodiscard]] Result<std::vector<RankTrace>> settle_ranks(std::vector<FoundTrace> found);

/// One rank in a joint graph.
struct RankFacts {
  std::int32_t rank = 0;
  std::size_t first_step = 0;  ///< its steps are [first_step, first_step + step_count) of the
  std::size_t step_count = 0;  ///< graph's and of BuiltGraph::steps
  Honesty honesty;
  std::uint32_t collectives = 0;  ///< kernels
  std::uint32_t matched = 0;      ///< of them part of a rendezvous
};

struct BuiltJob {
  BuiltGraph built;  ///< all ranks; honesty is the sum, flags carry the rank
  std::vector<RankFacts> ranks;
  std::vector<RankCollectives> collectives;  ///< per rank
  JobMatching matching;
};

/// One graph of all ranks. A matched collective is, on every rank, an arrival and a transfer on its
/// stream; the transfers wait for one zero-length join task per collective (TaskKind::transfer on a
/// LaneKind::channel lane of rank -1), which waits for all arrivals. Moves the device times of
/// ranks by align_device_clock. Errors: a rank without times; traces that show no sign of being of
/// one job.
[[nodiscard]] Result<BuiltJob> build_job(std::span<RankTrace> ranks,
                                         const BuildOptions& options = {});

}  // namespace foretrace::trace
