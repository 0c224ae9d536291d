#include "models/editing/transfers/exchanged_gradients.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "models/editing/tensors/training_pass.h"
#include "models/editing/transfers/transfers.h"
#include "sim/core/text.h"

namespace foretrace::editing {
namespace {

/// Bytes of one number that a collective adds up.
double number_bytes(const TaskGraph& graph, TaskId task) {
  const int known = bytes_per_number(graph.work(task).precision);
  if (known > 0) return known;
  constexpr double fp32_bytes = 4;
  return contains_any(graph.name(task), {"bf16", "f16", "half", "Half", "BFloat16"}) ? 2
                                                                                     : fp32_bytes;
}

}  // namespace

double exchanged_gradients(const KernelEditor& editor) {
  const TaskGraph& graph = editor.graph();
  constexpr std::int64_t least_bytes = 65536;
  const auto transfers = find_transfers(graph, "kind=collective");
  if (!transfers.ok()) return 0;
  const std::set<std::uint32_t> splitting = layer_splitting(graph, *transfers);
  using StepOfRank = std::pair<std::int32_t, std::int32_t>;
  std::map<StepOfRank, double> numbers;
  for (const Transfer& transfer : *transfers) {
    const Work& work = graph.work(transfer.task);
    const bool adds_up = work.collective == CollectiveKind::all_reduce ||
                         work.collective == CollectiveKind::reduce_scatter;
    if (!adds_up || work.bytes < least_bytes || splitting.contains(work.communicator) ||
        graph.step(transfer.task) < 0) {
      continue;
    }
    numbers[{graph.lane(transfer.task).rank, graph.step(transfer.task)}] +=
        static_cast<double>(work.bytes) / number_bytes(graph, transfer.task);
  }
  // Several passes of a step may have exchanged the same.
  std::map<StepOfRank, double> repeats;
  for (const TrainingPass& pass : find_passes(editor)) {
    const TaskId first = pass.backward.front();
    repeats[{graph.lane(first).rank, graph.step(first)}] += 1;
  }
  double most = 0;
  for (const auto& [where, sum] : numbers) {
    const auto found = repeats.find(where);
    most = std::max(most, sum / (found == repeats.end() ? 1 : found->second));
  }
  return most;
}

}  // namespace foretrace::editing
