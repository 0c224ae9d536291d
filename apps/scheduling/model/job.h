// A job as it is submitted, and what has become of it so far.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "apps/scheduling/model/cluster.h"
#include "apps/scheduling/model/ids.h"
#include "sim/core/ids.h"

namespace foretrace::scheduling {

inline constexpr std::int64_t never_ns = std::numeric_limits<std::int64_t>::max();

/// No time that a file says, and no moment of a run, lies beyond this: 126 years. What can be
/// counted ends soon after.
inline constexpr double longest_run_ns = 4e18;

/// A time of 0 or more after another; never_ns beyond what can be counted.
[[nodiscard]] constexpr std::int64_t later(std::int64_t from_ns, std::int64_t by_ns) {
  return from_ns > never_ns - by_ns ? never_ns : from_ns + by_ns;
}

/// What a job asks for on a node.
struct Request {
  std::int32_t gpus = 1;
  std::int32_t milli = whole;   ///< of each; below a whole one only with one accelerator
  std::int64_t cpu_milli = 0;   ///< of the whole job
  std::int64_t memory_mib = 0;  ///< of the whole job
  std::vector<KindId> kinds{};  ///< where it may run; empty: anywhere
  [[nodiscard]] bool allows(KindId kind) const;
};

/// A job as submitted.
struct Job {
  std::string name;
  std::int64_t arrival_ns = 0;
  TypeId type{};
  Request request{};
  std::int32_t least_gpus = 0;  ///< an elastic job runs on any number from here ...
  std::int32_t most_gpus = 0;   ///< ... to here; 0: exactly what it asks for
  /// Steps of each phase (epoch), one after the other; a plain job has one.
  std::vector<double> phases{};
  double weight = 1;  ///< priority: a job of weight 2 deserves twice the share
  TenantId tenant{};
  std::int64_t deadline_ns = never_ns;
  std::int64_t isolated_ns = 0;  ///< run time alone on what it asks for; 0: from its throughput
  std::int32_t group = -1;       ///< that others may wait for; -1: none
  std::int32_t after = -1;  ///< comes when all jobs of this group are over; -1: when it arrives
  std::int32_t batch_plan = -1;  ///< how its batch size changes while it runs; -1: it does not

  [[nodiscard]] double steps() const;
  [[nodiscard]] bool is_elastic() const { return most_gpus > 0; }
};

/// What is run: names in the tables of throughput.
struct JobType {
  std::string name;   ///< "ResNet-50 (batch 64)"
  std::string model;  ///< "ResNet-50"
  std::int64_t batch = 0;
};

enum class JobStatus : std::uint8_t { coming, waiting, running, done, dropped };

/// What a policy gives a job. Two jobs that share accelerators name each other.
struct Grant {
  JobId job{};
  JobId partner = none<JobId>;
  KindId kind{};
  std::int32_t gpus = 0;
  [[nodiscard]] bool operator==(const Grant&) const = default;
};

/// A part of a node that a job holds.
struct Slice {
  NodeId node{};
  std::uint64_t gpus = 0;      ///< bit i: accelerator i
  std::int32_t milli = whole;  ///< of each
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
  [[nodiscard]] bool operator==(const Slice&) const = default;
};

/// What has become of a job. Times of what it got count to `updated_ns`.
struct JobState {
  JobStatus status = JobStatus::coming;
  TypeId type{};                     ///< changes with the batch size
  std::int32_t phase = 0;            ///< which is running
  double done_in_phase = 0;          ///< steps
  std::int64_t ran_in_phase_ns = 0;  ///< time of progress since it began, or was set back
  double total = 0;                  ///< steps, of all phases; changes with the batch size
  double left = 0;                   ///< of these
  Grant grant{};                     ///< while it runs
  std::vector<Slice> slices{};       ///< empty where only numbers are counted
  double rate = 0;                   ///< steps per second of progress, while it runs
  std::int64_t ready_ns = 0;         ///< it makes no progress before
  std::int64_t updated_ns = 0;
  std::int64_t held_since_ns = 0;  ///< since when it has what it holds now
  std::int64_t executed_ns = 0;    ///< time on accelerators
  double accelerator_ns = 0;       ///< the same times accelerators
  std::int64_t came_ns = 0;        ///< it arrived, and the group that it waits for was over
  std::int64_t waiting_since_ns = 0;
  std::int64_t first_start_ns = -1;
  std::int64_t end_ns = -1;
  std::int32_t starts = 0;
  std::int32_t preemptions = 0;
  std::int32_t failures = 0;
  double checkpoint_left = 0;   ///< steps left at the last checkpoint
  double cost = 0;              ///< price of what it held
  double mean_active_jobs = 0;  ///< jobs that waited or ran during its life, itself included
};

}  // namespace foretrace::scheduling
