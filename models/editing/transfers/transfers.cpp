#include "models/editing/transfers/transfers.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/core/params.h"
#include "sim/edit/selection.h"

namespace foretrace::editing {
namespace {

// All-reduces of more bytes inside a forward pass carry activations: statistics of batches and
// losses are smaller.
constexpr std::int64_t least_activation_bytes = 65536;
// One at the end of a pass may be anything; a group that splits layers needs one per layer.
constexpr std::size_t least_activation_transfers = 2;
// Small batches have small activations: as many all-reduces of one size within a forward pass are
// two layers with two each. Statistics of batches are gathered there, and reduced in the backward.
constexpr std::size_t least_equal_transfers = 4;

}  // namespace

Result<std::vector<Transfer>> find_transfers(const TaskGraph& graph, std::string_view selection) {
  FORETRACE_TRY(auto selected, select(graph, selection).with_context("parameter 'select'"));
  std::vector<Transfer> transfers;
  for (const TaskId task : selected) {
    if (graph.kind(task) != TaskKind::collective) continue;
    const TaskPart part = graph.work(task).part;
    if (part != TaskPart::begin) transfers.push_back({task, part == TaskPart::finish});
  }
  if (transfers.empty()) {
    return Error{ErrorCode::no_match,
                 fmt::format("no collective matches {}, expected a trace with NCCL or RCCL kernels",
                             in_quotes(selection))};
  }
  return transfers;
}

MovingTimes::MovingTimes(const TaskGraph& graph, const std::vector<Transfer>& transfers)
    : graph_(graph) {
  for (const Transfer& transfer : transfers) {
    const std::int64_t ns = graph.duration_ns(transfer.task);
    const auto [at, is_new] = shortest_.emplace(key_of(transfer.task), ns);
    if (!is_new) at->second = std::min(at->second, ns);
  }
}

MovingTimes::Key MovingTimes::key_of(TaskId task) const {
  const Work& work = graph_.work(task);
  // Where bytes are not recorded, kernels of the same work are taken to move the same.
  return {graph_.lane_id(task), work.collective, work.communicator, work.bytes,
          work.bytes >= 0 ? WorkId{} : graph_.work_id(task)};
}

std::int64_t MovingTimes::of(const Transfer& transfer) const {
  const std::int64_t ns = graph_.duration_ns(transfer.task);
  return transfer.met ? ns : std::min(ns, shortest_.at(key_of(transfer.task)));
}

std::set<std::uint32_t> layer_splitting(const TaskGraph& graph,
                                        const std::vector<Transfer>& transfers) {
  std::set<TaskId> wanted;
  for (const Transfer& transfer : transfers) wanted.insert(transfer.task);
  std::map<std::int32_t, Phase> phase_of_rank;  // of the kernel before
  std::map<std::pair<std::uint32_t, std::int32_t>, std::size_t> large;
  // In one forward pass, by their bytes.
  std::map<std::pair<std::uint32_t, std::int32_t>, std::map<std::int64_t, std::size_t>> equal;
  std::set<std::uint32_t> splitting;
  for (std::size_t t = 0; t < graph.size(); ++t) {
    const auto task = make_id<TaskId>(t);
    const std::int32_t rank = graph.lane(task).rank;
    if (graph.kind(task) == TaskKind::kernel) {
      Phase& phase = phase_of_rank[rank];
      const bool leaves = phase == Phase::forward && graph.phase(task) != Phase::forward;
      phase = graph.phase(task);
      if (leaves) std::erase_if(equal, [&](const auto& row) { return row.first.second == rank; });
    }
    if (!wanted.contains(task)) continue;
    const Work& work = graph.work(task);
    if (work.collective != CollectiveKind::all_reduce || phase_of_rank[rank] != Phase::forward) {
      continue;
    }
    const std::pair key(work.communicator, rank);
    if (work.bytes >= least_activation_bytes) ++large[key];
    if (work.bytes > 0 && ++equal[key][work.bytes] >= least_equal_transfers) {
      splitting.insert(work.communicator);
    }
  }
  for (const auto& [key, transfers_of] : large) {
    if (transfers_of >= least_activation_transfers) splitting.insert(key.first);
  }
  return splitting;
}

std::string names_of(const TaskGraph& graph, const std::set<std::uint32_t>& communicators) {
  std::string text;
  for (const std::uint32_t at : communicators) {
    const auto& all = graph.context().communicators;
    const std::string name = at < all.size() && !all[at].name.empty() ? all[at].name : "unnamed";
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

Error cannot_grow(const TaskGraph& graph, const std::set<std::uint32_t>& communicators) {
  return {ErrorCode::no_match,
          fmt::format("no communicator can grow: {} reduce{} activations in the forward pass, so "
                      "its ranks share layers",
                      names_of(graph, communicators), communicators.size() == 1 ? "s" : "")};
}

}  // namespace foretrace::editing
