// The setting of a what-if that leaves a run as it was recorded, for the run at hand.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/editing/transfers/gradient_transfers.h"
#include "models/whatifs/what_if.h"
#include "models/whatifs/what_if_spec.h"
#include "sim/graph/task_graph.h"

namespace foretrace::test {

/// Of the whole job, as far as a recording tells.
inline std::size_t group_ranks_of(const TaskGraph& graph) {
  std::size_t ranks = 0;
  for (const RankClass& one : graph.context().rank_classes) ranks += one.multiplicity;
  for (const Communicator& group : graph.context().communicators) {
    ranks = std::max<std::size_t>(ranks, group.size);
  }
  return ranks;
}

/// Of a job, the ranks that exchange gradients; a run of one device is one copy.
inline std::size_t copies_of(const TaskGraph& graph) {
  const auto transfers = editing::find_gradient_transfers(graph);
  if (transfers.empty()) return std::max<std::size_t>(1, group_ranks_of(graph));
  const std::uint32_t group = graph.work(transfers.front().task).communicator;
  const auto& groups = graph.context().communicators;
  return group < groups.size() ? std::max<std::size_t>(1, groups[group].size) : 1;
}

/// Nothing where there is none, or where it names what this recording does not tell.
inline std::optional<WhatIf> identity_of(const WhatIfInfo& info, const TaskGraph& graph,
                                         const Accelerator* on) {
  std::string setting(info.identity.setting);
  const auto put = [&](std::string_view name, const std::string& value) {
    const auto at = setting.find(name);
    if (at == std::string::npos) return true;
    setting.replace(at, name.size(), value);
    return !value.empty();
  };
  const std::size_t ranks = group_ranks_of(graph);
  if (!put("{accelerator}", on == nullptr ? "" : on->name) ||
      !put("{ranks}", ranks < 2 ? "" : std::to_string(ranks)) ||
      !put("{copies}", std::to_string(copies_of(graph))) || setting.empty()) {
    return std::nullopt;
  }
  const auto spec = parse_what_if(fmt::format("{}:{}", info.name, setting));
  REQUIRE_MESSAGE(spec.ok(), spec.error().message);
  auto what_if = check_what_if(*spec);
  REQUIRE_MESSAGE(what_if.ok(), what_if.error().message);
  return *std::move(what_if);
}

}  // namespace foretrace::test
