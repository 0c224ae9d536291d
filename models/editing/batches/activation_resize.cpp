#include "models/editing/batches/activation_resize.h"

#include <algorithm>
#include <cstdint>
#include <set>

#include "models/editing/transfers/transfers.h"
#include "sim/core/whole.h"

namespace foretrace::editing {
namespace {

// Part of a transfer that does not follow its bytes.
constexpr std::int64_t transfer_latency_ns = 20000;

}  // namespace

std::size_t resize_transfers(Editor& editor, double factor) {
  if (factor == 1) return 0;
  const TaskGraph& graph = editor.graph();
  const auto transfers = find_transfers(graph, "kind=collective");
  if (!transfers.ok()) return 0;
  const std::set<std::uint32_t> splitting = layer_splitting(graph, *transfers);
  const MovingTimes moving(graph, *transfers);
  std::size_t resized = 0;
  for (const Transfer& transfer : *transfers) {
    const Work& work = graph.work(transfer.task);
    const bool between_parts = work.collective == CollectiveKind::all_to_all ||
                               work.collective == CollectiveKind::send ||
                               work.collective == CollectiveKind::receive ||
                               work.collective == CollectiveKind::send_receive;
    if (!between_parts && !splitting.contains(work.communicator)) continue;
    const std::int64_t ns = moving.of(transfer);
    const std::int64_t follows = std::max<std::int64_t>(0, ns - transfer_latency_ns);
    const std::int64_t more = to_whole(static_cast<double>(follows) * (factor - 1));
    editor.set_duration(transfer.task, graph.duration_ns(transfer.task) + more,
                        {Provenance::scaled, 0.85F, 1.2F});
    ++resized;
  }
  return resized;
}

void resize_tensors(TensorEditor& edits, const TaskGraph& graph,
                    const std::function<double(std::size_t)>& factor) {
  const auto& tensors = graph.context().tensors;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    switch (tensors[i].category) {
      case TensorCategory::activation:
      case TensorCategory::activation_gradient:
      case TensorCategory::input:
      case TensorCategory::temporary:
        edits.resize(i, static_cast<double>(tensors[i].bytes) * factor(i));
        break;
      default: break;
    }
  }
}

}  // namespace foretrace::editing
