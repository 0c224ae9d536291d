// Accuracy on recorded jobs of several ranks, replayed as one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/hardware/catalogue/catalogue.h"
#include "sim/core/result.h"
#include "trace/assemble/build_graph.h"

namespace foretrace {

/// How far the steps of all ranks are from the recording: mean and largest of their sizes.
struct StepErrors {
  double mean = 0;
  double worst = 0;
};

/// One job, replayed with and without what it recorded per operation.
struct JobRow {
  std::string id;
  std::string what;
  std::uint64_t ranks = 0;
  std::uint64_t steps = 0;  ///< of all ranks
  std::uint64_t tasks = 0;
  std::uint64_t matched = 0;  ///< collectives found on all ranks
  std::uint64_t incomplete = 0;
  std::string method;
  StepErrors errors;
  StepErrors constant;           ///< with per-trace constant latencies and gaps only
  std::int64_t transfer_ns = 0;  ///< of matched collectives, sum over ranks
  std::int64_t waiting_ns = 0;
  double bus_bandwidth = -1;               ///< of the size with the most bytes; bytes/s, -1 unknown
  std::string largest;                     ///< that size, its kind
  double largest_offset_ns = 0;            ///< of a clock
  std::int64_t unexplained_device_ns = 0;  ///< sum over ranks
  std::int64_t span_ns = 0;
  std::vector<std::string> flags;
  std::string failure;  ///< not empty: why there is no replay
};

/// A job of configs/validation/jobs.json.
struct KnownJob {
  std::string id;
  std::string what;
  std::vector<std::string> inputs;  ///< with the folder
  bool is_there = false;            ///< all of them
};
[[nodiscard]] Result<std::vector<KnownJob>> known_jobs(const Catalogue& catalogue,
                                                       const std::string& folder);

/// Replays every job of configs/validation/jobs.json whose traces are below the folder.
[[nodiscard]] Result<std::vector<JobRow>> job_table(const CataloguePtr& catalogue,
                                                    const std::string& folder);

}  // namespace foretrace
