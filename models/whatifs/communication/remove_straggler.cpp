// Remove straggler: host stalls that only one rank has become as short as on the other ranks.
//
//   before   rank 0  [fwd][all-to-all: waits 1000 ms      ][bwd]
//            rank 2  [fwd][stall 1001 ms     ][all-to-all][bwd]
//   after    rank 0  [fwd][all-to-all][bwd]
//            rank 2  [fwd][all-to-all][bwd]
//   A stall is a silence of a host thread that the same place of the other ranks does not have.
//   Only the host time goes; who waits for whom afterwards is simulated.
#include <array>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "models/whatifs/what_if.h"
#include "sim/edit/editor.h"

namespace foretrace::remove_straggler_parts {
namespace {

constexpr ParamInfo to_param = {
    .name = "to",
    .type = ParamType::time,
    .unit = "ms",
    .default_text = "0 ms",
    .doc = "Length of every stall afterwards (that of the other ranks).",
    .minimum = 0,
    .maximum = 3.6e12};
constexpr ParamInfo at_least_param = {.name = "at_least",
                                      .type = ParamType::time,
                                      .unit = "ms",
                                      .default_text = "1 ms",
                                      .doc = "Stalls that exceed the other ranks by less stay.",
                                      .minimum = 0,
                                      .maximum = 3.6e12};
constexpr ParamInfo rank_param = {.name = "rank",
                                  .type = ParamType::integer,
                                  .unit = "1",
                                  .default_text = "-1",
                                  .doc = "Only stalls of this rank; -1: of every rank.",
                                  .minimum = -1,
                                  .maximum = 1e9};

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  const TaskGraph& graph = scenario.graph;
  const std::int64_t rank = params.integer(rank_param);
  const std::int64_t at_least = params.integer(at_least_param);
  std::map<TaskId, std::int64_t> shorter;  // by task
  std::map<std::int32_t, std::pair<std::size_t, std::int64_t>> by_rank;
  for (const Stall& stall : graph.context().stalls) {
    const std::int32_t own = graph.lane(stall.task).rank;
    if (stall.excess_ns < at_least || (rank >= 0 && own != rank)) continue;
    const std::int64_t less =
        params.given(to_param) ? stall.duration_ns - params.integer(to_param) : stall.excess_ns;
    shorter[stall.task] += less;
    ++by_rank[own].first;
    by_rank[own].second += less;
  }
  if (shorter.empty()) {
    return Error{ErrorCode::no_match,
                 "no CPU stall that hits only one rank, expected the traces of several ranks of "
                 "one job (a lower at_least finds shorter stalls)"};
  }
  Editor editor(graph);
  for (const auto& [task, less] : shorter) {
    editor.set_segment(task, std::max<std::int64_t>(0, graph.segment_ns(task) - less));
  }
  for (const auto& [own, sum] : by_rank) {
    editor.note(fmt::format("rank {}: {} stalls, {:.1f} ms less in all", own, sum.first,
                            static_cast<double>(sum.second) * 1e-6));
  }
  return editor.finish();
}

constexpr std::array<std::string_view, 3> assumptions = {
    "No other work needs what the rank did during the stall.",
    "The rank would then be as fast as the median of the others at the same place, or as `to` "
    "says.",
    "A silence above 1 ms and three times that of the others is a stall; shorter ones stay."};
constexpr std::array<std::string_view, 2> ignores = {
    "why the rank stalled, and whether another one would stall instead",
    "slow kernels on one device: only host stalls are found"};
constexpr std::array params = {to_param, at_least_param, rank_param};

constexpr std::array trends = {Trend{&to_param, Larger::is_slower}};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "remove_straggler",
    .summary = "Remove CPU stalls that hit only one rank.",
    .paper =
        "none; P. Patarasuk, X. Yuan, Efficient MPI_Bcast across Different Process Arrival "
        "Patterns, IPDPS 2008, shows what late arrivals cost",
    .recipe =
        "The host time before the task that ends a stall becomes that of the other ranks, or "
        "`to`. Arrivals at collectives and waiting follow.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "to: the length of the same silence in a run without the cause.",
    .identity = {.none_because = "a stall becomes shorter; where none is, it declines"},
    .params = params,
    .trends = trends,
    .apply = apply,
    .stage = ApplyStage::network};

}  // namespace foretrace::remove_straggler_parts
