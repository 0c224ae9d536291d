#include "models/editing/transfers/gradient_transfers.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "sim/core/text.h"
#include "sim/core/whole.h"

namespace foretrace::editing {
namespace {

// Smaller sums are norms, losses, flags and statistics.
constexpr std::int64_t least_gradient_bytes = 65536;
constexpr std::int64_t least_map_bytes = 4096;      // below: norms and losses
constexpr std::int64_t least_unknown_ns = 100'000;  // where bytes are not recorded
// What a ring or tree of NCCL takes for next to nothing within a node; see compress_communication.
constexpr std::int64_t latency_ns = 20'000;

std::vector<Transfer> all_transfers(const TaskGraph& graph) {
  auto found = find_transfers(graph, "kind=collective");
  return found ? *std::move(found) : std::vector<Transfer>{};
}

bool reduces(CollectiveKind kind) {
  return kind == CollectiveKind::all_reduce || kind == CollectiveKind::reduce_scatter;
}

}  // namespace

std::map<TaskId, Phase> phases_of_collectives(const TaskGraph& graph) {
  std::map<TaskId, Phase> phases;
  std::map<std::int32_t, Phase> phase_of_rank;
  for (std::size_t t = 0; t < graph.size(); ++t) {
    const auto task = make_id<TaskId>(t);
    Phase& before = phase_of_rank[graph.lane(task).rank];
    if (graph.kind(task) == TaskKind::kernel) before = graph.phase(task);
    if (graph.kind(task) == TaskKind::collective) phases[task] = before;
  }
  return phases;
}

std::vector<Transfer> find_gradient_transfers(const TaskGraph& graph) {
  const std::vector<Transfer> all = all_transfers(graph);
  const std::set<std::uint32_t> splitting = layer_splitting(graph, all);
  if (all.empty()) return {};
  const std::map<TaskId, Phase> phases = phases_of_collectives(graph);
  std::set<TaskId> gradients;
  std::set<std::uint32_t> groups;  // that exchange gradients
  for (const Transfer& transfer : all) {
    const Work& work = graph.work(transfer.task);
    if (!reduces(work.collective) || splitting.contains(work.communicator)) continue;
    const bool large = work.bytes < 0 ? graph.duration_ns(transfer.task) >= least_unknown_ns
                                      : work.bytes >= least_gradient_bytes;
    const auto phase = phases.find(transfer.task);
    if (!large || phase == phases.end() || phase->second != Phase::backward) continue;
    gradients.insert(transfer.task);
    groups.insert(work.communicator);
  }
  std::vector<Transfer> found;
  for (const Transfer& transfer : all) {
    const Work& work = graph.work(transfer.task);
    const bool scatters =
        work.collective == CollectiveKind::reduce_scatter && groups.contains(work.communicator);
    if (scatters || gradients.contains(transfer.task)) found.push_back(transfer);
  }
  return found;
}

std::vector<Transfer> find_activation_transfers(const TaskGraph& graph) {
  std::vector<Transfer> all = all_transfers(graph);
  const std::set<std::uint32_t> splitting = layer_splitting(graph, all);
  std::erase_if(all, [&](const Transfer& transfer) {
    const Work& work = graph.work(transfer.task);
    return !splitting.contains(work.communicator) || work.bytes < least_map_bytes;
  });
  return all;
}

Precision summed_precision(const TaskGraph& graph, TaskId transfer) {
  const Precision precision = graph.work(transfer).precision;
  if (precision != Precision::unknown) return precision;
  const std::string_view name = graph.name(transfer);
  if (contains_any(name, {"bf16", "bfloat16", "BFloat16"})) return Precision::bf16;
  if (contains_any(name, {"f16", "float16", "half", "Half"})) return Precision::fp16;
  const bool fp32 = contains_any(name, {"_f32", "_float", "float32", "<float>"});
  return fp32 ? Precision::fp32 : Precision::unknown;
}

ShrunkTransfers shrink(Editor& editor, const std::vector<Transfer>& transfers, double share) {
  const TaskGraph& graph = editor.graph();
  const MovingTimes times(graph, transfers);
  ShrunkTransfers shrunk;
  for (const Transfer& transfer : transfers) {
    const std::int64_t old = graph.duration_ns(transfer.task);
    const std::int64_t moving = times.of(transfer);
    const std::int64_t latency = std::min(moving, latency_ns);
    const std::int64_t now =
        old - moving + latency + to_whole(static_cast<double>(moving - latency) * share);
    editor.set_duration(transfer.task, now, {Provenance::scaled, 0.9F, 1.2F});
    ++shrunk.count;
    shrunk.before_ns += old;
    shrunk.after_ns += now;
  }
  return shrunk;
}

std::string ShrunkTransfers::note(std::string_view of) const {
  if (count == 0) return {};
  return fmt::format("; {} transfers of {} {:.2f} ms -> {:.2f} ms", count, of,
                     static_cast<double>(before_ns) * 1e-6, static_cast<double>(after_ns) * 1e-6);
}

}  // namespace foretrace::editing
