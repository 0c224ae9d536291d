// Summary of a window of a timeline: where the time went, who was busy.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/graph/task_graph.h"
#include "sim/result/timeline.h"

namespace foretrace {

/// A stretch of time as one rank sees it.
struct Window {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::int32_t rank = 0;
  std::int32_t device = no_device;  ///< no_device: every device of the rank
  std::int32_t step = -1;           ///< not -1: only device work that this step launched
};

/// The window, split without overlap: each instant counts for the first that applies, top down.
struct Breakdown {
  std::int64_t compute_ns = 0;                ///< a kernel or a set runs
  std::int64_t communication_exposed_ns = 0;  ///< a collective transfers, nothing computes
  std::int64_t communication_waiting_ns = 0;  ///< a collective waits for late ranks
  std::int64_t memory_copy_ns = 0;            ///< only a copy runs
  std::int64_t host_bound_ns = 0;  ///< the device is idle; a thread that launches is at work
  std::int64_t idle_ns = 0;        ///< neither works: latencies, gaps of the device, hand-overs
  /// Beside the others: communication that computation covers.
  std::int64_t communication_overlapped_ns = 0;

  [[nodiscard]] std::int64_t total_ns() const {
    return compute_ns + communication_exposed_ns + communication_waiting_ns + memory_copy_ns +
           host_bound_ns + idle_ns;
  }
};

struct Summary {
  Breakdown breakdown;                                      ///< sums to the window exactly
  std::int64_t device_busy_ns = 0;                          ///< union of everything the device does
  std::vector<std::int64_t> lane_busy_ns;                   ///< per lane: durations inside
  std::array<std::int64_t, phase_count> phase_device_ns{};  ///< durations of device tasks
  std::array<std::int64_t, task_kind_count> kind_ns{};      ///< durations by kind, of the rank
};

/// Tasks of other ranks (and of other devices, if one is given) do not count.
[[nodiscard]] Summary summarize(const TaskGraph& graph, const Timeline& timeline,
                                const Window& window);

/// From the start of a step's begin mark to the start of its end mark.
[[nodiscard]] Window step_window(const TaskGraph& graph, const Timeline& timeline,
                                 const Step& step);

}  // namespace foretrace
