#include "trace/ranks/merge_order.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace foretrace::trace {

std::vector<std::uint32_t> conflicting_joins(std::span<const std::vector<Arrival>> arrivals,
                                             std::span<const std::uint32_t> members) {
  std::vector<std::uint32_t> waiting(members.size(), 0);
  std::vector<bool> open(members.size(), false);  // left out, or everybody is there
  std::vector<std::size_t> at(arrivals.size(), 0);
  std::vector<bool> stands(arrivals.size(), false);  // has arrived at arrivals[r][at[r]]
  std::vector<std::uint32_t> left_out;
  while (true) {
    bool moved = false;
    std::uint32_t blocked = 0xFFFFFFFFU;
    for (std::size_t r = 0; r < arrivals.size(); ++r) {
      while (at[r] < arrivals[r].size()) {
        const Arrival& arrival = arrivals[r][at[r]];
        if (!stands[r]) {
          stands[r] = true;
          for (const auto* const list : {&arrival.announced, &arrival.joins}) {
            for (const std::uint32_t join : *list) {
              const bool opens = ++waiting[join] == members[join] && !open[join];
              open[join] = open[join] || opens;
              moved = moved || opens;  // who was looked at before may go on
            }
          }
        }
        const auto closed = std::find_if(arrival.joins.begin(), arrival.joins.end(),
                                         [&](std::uint32_t join) { return !open[join]; });
        if (closed != arrival.joins.end()) {
          blocked = std::min(blocked, *closed);
          break;
        }
        stands[r] = false;
        ++at[r];
        moved = true;
      }
    }
    if (moved) continue;
    if (blocked == 0xFFFFFFFFU) return left_out;
    // Nobody can go on: the earliest of those that are waited for is given up.
    open[blocked] = true;
    left_out.push_back(blocked);
  }
}

Honesty sum_honesty(std::span<const RankFacts> ranks, std::int64_t span_ns) {
  Honesty sum;
  sum.span_ns = span_ns;
  for (const RankFacts& facts : ranks) {
    const Honesty& rank = facts.honesty;
    sum.unexplained_device_ns += rank.unexplained_device_ns;
    sum.unexplained_device_count += rank.unexplained_device_count;
    sum.unrecorded_device_ns += rank.unrecorded_device_ns;
    sum.unrecorded_device_count += rank.unrecorded_device_count;
    sum.unexplained_launch_ns += rank.unexplained_launch_ns;
    sum.unexplained_launch_count += rank.unexplained_launch_count;
    sum.queue_blocked_ns += rank.queue_blocked_ns;
    sum.queue_blocked_count += rank.queue_blocked_count;
    sum.profiler_ns += rank.profiler_ns;
    for (std::size_t i = 0; i < sum.edges_by_origin.size(); ++i) {
      sum.edges_by_origin[i] += rank.edges_by_origin[i];
    }
    sum.contradicted_edges += rank.contradicted_edges;
    sum.hand_overs += rank.hand_overs;
    sum.initial_backlog_ns += rank.initial_backlog_ns;
    sum.first_use_ns += rank.first_use_ns;
    sum.pre_window_operations += rank.pre_window_operations;
    sum.absolute_pins += rank.absolute_pins;
    sum.host_only_ns = std::max(sum.host_only_ns, rank.host_only_ns);
    sum.device_busy_ns = std::max(sum.device_busy_ns, rank.device_busy_ns);
    for (const std::string& flag : rank.flags) {
      sum.flags.push_back(fmt::format("rank {}: {}", facts.rank, flag));
    }
  }
  return sum;
}

std::int64_t device_work_ns(const rules::Assembly& rank) {
  std::vector<std::pair<std::int64_t, std::int64_t>> intervals;
  for (const rules::DeviceOp& op : rank.ops) {
    const rules::CollectiveOp* const collective =
        op.collective == rules::nothing ? nullptr : &rank.collectives[op.collective];
    const bool meets = collective != nullptr && collective->waits();
    intervals.emplace_back(meets ? std::min(collective->finish_start_ns, op.end_ns) : op.start_ns,
                           op.end_ns);
  }
  std::sort(intervals.begin(), intervals.end());
  std::int64_t sum = 0;
  std::int64_t reached = std::numeric_limits<std::int64_t>::min();
  for (const auto& [from, to] : intervals) {
    sum += std::max<std::int64_t>(0, to - std::max(from, reached));
    reached = std::max(reached, to);
  }
  return sum;
}

}  // namespace foretrace::trace
