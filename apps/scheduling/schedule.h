// A run of the scheduling simulator as users write it (schema foretrace.schedule/1).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apps/scheduling/components.h"
#include "apps/scheduling/model/cluster.h"
#include "apps/scheduling/model/throughput.h"
#include "apps/scheduling/model/workload.h"
#include "apps/scheduling/simulation/metrics.h"
#include "apps/scheduling/simulation/run.h"
#include "sim/core/result.h"

namespace foretrace::scheduling {

inline constexpr std::string_view schedule_schema = "foretrace.schedule/1";

/// A policy, or a placement, with parameters.
struct Choice {
  std::string name;
  Settings settings;
};

struct Schedule {
  std::string path;
  std::vector<std::string> files;  ///< tables that it names
  Cluster cluster;
  Workload workload;
  std::unique_ptr<ThroughputTable> throughput;
  std::vector<Choice> policies;    ///< each gets a run of its own
  std::vector<Choice> placements;  ///< every policy runs with each of them
  RunOptions options;
  std::uint64_t seed = 0;
  std::vector<JobId> measured;  ///< jobs that figures are about; empty: all
};

/// Errors name file, JSON pointer, what was got and what is expected. Files are relative to the one
/// that names them.
[[nodiscard]] Result<Schedule> read_schedule(const std::string& path);
[[nodiscard]] Result<Schedule> parse_schedule(std::string_view text, const std::string& where);

/// What came of one policy with one placement.
struct ScheduleRun {
  Choice policy;
  Choice placement;
  Outcome outcome;
  Metrics metrics;
};
/// Every policy with every placement on several threads; the result does not depend on how many.
[[nodiscard]] Result<std::vector<ScheduleRun>> run_schedule(const Schedule& schedule);

}  // namespace foretrace::scheduling
