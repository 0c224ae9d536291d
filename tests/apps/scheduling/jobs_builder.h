// Small clusters and jobs for tests, and runs of them in a line.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "apps/scheduling/components.h"
#include "apps/scheduling/policies/shares.h"
#include "apps/scheduling/simulation/run.h"

namespace foretrace::scheduling::test {

constexpr std::int64_t second = 1'000'000'000;

class Jobs {
 public:
  /// Nodes of one kind; the same name again adds to it.
  Jobs& nodes(const std::string& kind, int count, int gpus) {
    const Node node{.kind = kind_called(kind), .gpus = gpus};
    for (int i = 0; i < count; ++i) cluster.nodes.push_back(node);
    return *this;
  }
  /// A job of a time on what it asks for.
  Jobs& job(double arrival_s, int gpus, double duration_s) {
    const TypeId type = type_called("seconds");
    throughput.set_clock(type);
    return add(arrival_s, gpus, type, duration_s);
  }
  /// A job of steps with rates on the kinds in their order; 0: it does not run there.
  Jobs& job_of(const std::string& type, int gpus, double steps, const std::vector<double>& rates) {
    const TypeId id = type_called(type);
    for (std::size_t k = 0; k < rates.size(); ++k) {
      if (rates[k] > 0) throughput.set(id, {.kind = make_id<KindId>(k), .gpus = gpus}, rates[k]);
    }
    return add(0, gpus, id, steps);
  }
  Job& last() { return workload.jobs.values().back(); }

  [[nodiscard]] Result<Outcome> run(std::string_view policy, std::string_view parameters = "",
                                    const RunOptions& options = {},
                                    std::string_view placement = "pack") {
    auto made = make_policy(policy, parameters);
    REQUIRE_MESSAGE(made.ok(), made.error().message);
    auto placed = make_placement(placement, "", {.cluster = &cluster, .workload = &workload});
    REQUIRE_MESSAGE(placed.ok(), placed.error().message);
    return scheduling::run({&cluster, &workload, &throughput, made->get(), placed->get()}, options);
  }
  /// End of every job in seconds, rounded to a nanosecond.
  [[nodiscard]] std::vector<double> ends(std::string_view policy, std::string_view parameters = "",
                                         const RunOptions& options = {},
                                         std::string_view placement = "pack") {
    const auto outcome = run(policy, parameters, options, placement);
    REQUIRE_MESSAGE(outcome.ok(), outcome.error().message);
    std::vector<double> times;
    for (const JobState& state : outcome->jobs.values()) {
      times.push_back(static_cast<double>(state.end_ns) / 1e9);
    }
    return times;
  }
  /// Shares that a policy would give if all jobs had just come.
  [[nodiscard]] std::vector<ShareRow> shares(std::string_view policy,
                                             std::string_view parameters = "") {
    states = Column<JobId, JobState>(workload.jobs.size());
    active.clear();
    for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
      const auto id = make_id<JobId>(i);
      states[id].status = JobStatus::waiting;
      states[id].type = workload.jobs[id].type;
      states[id].total = workload.jobs[id].steps();
      states[id].left = states[id].total;
      active.push_back(id);
    }
    capacity = Column<KindId, std::int32_t>(cluster.kinds.size());
    for (std::size_t k = 0; k < capacity.size(); ++k) {
      capacity[make_id<KindId>(k)] = cluster.gpus_of(make_id<KindId>(k));
    }
    auto made = make_policy(policy, parameters);
    REQUIRE_MESSAGE(made.ok(), made.error().message);
    auto* sharing = dynamic_cast<SharePolicy*>(made->get());
    REQUIRE(sharing != nullptr);
    auto rows = sharing->shares({.now_ns = 0,
                                 .period_ns = second,
                                 .cluster = &cluster,
                                 .workload = &workload,
                                 .throughput = &throughput,
                                 .states = &states,
                                 .active = active,
                                 .capacity = &capacity});
    REQUIRE_MESSAGE(rows.ok(), rows.error().message);
    return *rows;
  }
  /// Steps per second of a job under its shares.
  [[nodiscard]] double rate_of(const ShareRow& row) const {
    const Job& job = workload.jobs[row.job];
    double rate = 0;
    for (std::size_t k = 0; k < row.share.size(); ++k) {
      rate += row.share[k] *
              throughput.rate(job.type, {.kind = make_id<KindId>(k), .gpus = job.request.gpus});
    }
    return rate;
  }

  Cluster cluster;
  Workload workload;
  ThroughputTable throughput;
  Column<JobId, JobState> states;
  std::vector<JobId> active;
  Column<KindId, std::int32_t> capacity;

 private:
  Jobs& add(double arrival_s, int gpus, TypeId type, double steps) {
    Job job;
    job.name = std::to_string(workload.jobs.size());
    job.arrival_ns = std::llround(arrival_s * 1e9);
    job.request.gpus = gpus;
    job.type = type;
    job.phases = {steps};
    workload.jobs.push_back(std::move(job));
    return *this;
  }
  KindId kind_called(const std::string& name) {
    for (std::size_t k = 0; k < cluster.kinds.size(); ++k) {
      if (cluster.kinds[make_id<KindId>(k)].name == name) return make_id<KindId>(k);
    }
    return cluster.kinds.push_back({.name = name});
  }
  TypeId type_called(const std::string& name) {
    for (std::size_t t = 0; t < workload.types.size(); ++t) {
      if (workload.types[make_id<TypeId>(t)].name == name) return make_id<TypeId>(t);
    }
    return workload.types.push_back({.name = name, .model = name});
  }
};

/// Rounds of leases of this many seconds.
[[nodiscard]] inline RunOptions leases(double period_s) {
  return {.clock = Clock::leases, .period_ns = std::llround(period_s * 1e9)};
}

using Times = std::vector<double>;

}  // namespace foretrace::scheduling::test
