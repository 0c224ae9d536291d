// What a run of the scheduling simulator leaves behind.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apps/scheduling/model/ids.h"
#include "apps/scheduling/model/job.h"
#include "sim/core/ids.h"

namespace foretrace::scheduling {

enum class EventKind : std::uint8_t { arrive, start, stop, finish, drop, fail, node_down, node_up };
[[nodiscard]] std::string_view to_string(EventKind kind);

/// One line of the event log. Of nodes, `node` is set and `job` is none.
struct Event {
  std::int64_t time_ns = 0;
  EventKind kind = EventKind::arrive;
  JobId job = none<JobId>;
  NodeId node = none<NodeId>;
};

/// A time that a job spent on accelerators: a bar of a Gantt chart.
struct Bar {
  JobId job{};
  JobId partner = none<JobId>;
  KindId kind{};
  std::int32_t gpus = 0;
  std::vector<Slice> slices;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

/// Times summed over nodes: those that hold a job, what they have, what of it is held.
struct NodeTimes {
  double used_s = 0;
  double cpu_s = 0;  ///< cores times seconds
  double held_cpu_s = 0;
  double memory_mib_s = 0;
  double held_memory_mib_s = 0;
  bool is_known = true;  ///< false: the placement only counts accelerators
};

struct Outcome {
  Column<JobId, JobState> jobs;  ///< as they were at the end
  std::vector<Event> events;     ///< in the order of time
  std::vector<Bar> bars;         ///< by their beginning
  std::int64_t begin_ns = 0;     ///< the first arrival
  std::int64_t end_ns = 0;       ///< the end of the last job, or of the last round
  /// Time that accelerators were held, per kind, and time that they were up.
  Column<KindId, double> held_s;
  Column<KindId, double> up_s;
  NodeTimes nodes;
  std::int64_t decisions = 0;
  std::int64_t rounds = 0;
  std::int64_t leases = 0;           ///< rounds times jobs that ran in them
  std::int64_t extended_leases = 0;  ///< of these, with what the job held before
  /// Mean over arrivals and ends of the jobs that were active, weighted by time.
  double mean_active_jobs = 0;
};

}  // namespace foretrace::scheduling
