// Requests placed one after the other on a small cluster.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "apps/scheduling/components.h"
#include "apps/scheduling/model/occupancy.h"
#include "tests/apps/scheduling/jobs_builder.h"

namespace foretrace::scheduling::test {

/// Places requests one after the other; nothing: there was no room.
[[nodiscard]] inline std::vector<std::optional<std::vector<Slice>>> place_all(
    Jobs& jobs, std::string_view name, const std::vector<Request>& requests) {
  for (const Request& request : requests) {
    Job job;
    job.request = request;
    jobs.workload.jobs.push_back(job);
  }
  auto placement = make_placement(name, "", {.cluster = &jobs.cluster, .workload = &jobs.workload});
  REQUIRE(placement.ok());
  Occupancy occupancy(jobs.cluster);
  std::vector<std::optional<std::vector<Slice>>> placed;
  for (const Request& request : requests) {
    placed.push_back((*placement)->place(occupancy, request));
    if (!placed.back()) continue;
    for (const Slice& slice : *placed.back()) occupancy.take(slice);
  }
  return placed;
}

/// The node of a request on one node.
[[nodiscard]] inline std::size_t node_of(const std::optional<std::vector<Slice>>& placed) {
  REQUIRE(placed.has_value());
  REQUIRE(placed->size() == 1);
  return index(placed->front().node);
}

[[nodiscard]] inline Request share(std::int32_t milli) { return {.gpus = 1, .milli = milli}; }
[[nodiscard]] inline Request whole_ones(std::int32_t gpus) { return {.gpus = gpus}; }

}  // namespace foretrace::scheduling::test
