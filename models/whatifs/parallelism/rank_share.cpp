#include "models/whatifs/parallelism/rank_share.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/edit/tensors.h"

namespace foretrace::editing {
namespace {

double share_of(const RankMemory& memory, TensorCategory category) {
  switch (category) {
    case TensorCategory::weight: return memory.weights;
    case TensorCategory::gradient: return memory.gradients;
    case TensorCategory::optimizer_state: return memory.states;
    default: return 1;
  }
}

}  // namespace

std::string resize_rank_memory(Editor& editor, const RankMemory& memory) {
  TensorEditor tensors(editor);
  const std::vector<Tensor>& all = editor.graph().context().tensors;
  std::map<std::pair<std::int32_t, std::int32_t>, Tensor> buffers;  // by device
  for (std::size_t i = 0; i < all.size(); ++i) {
    Tensor buffer;
    buffer.rank = all[i].rank;
    buffer.device = all[i].device;
    buffer.category = TensorCategory::communication;
    buffers.try_emplace({std::max(all[i].rank, 0), all[i].device}, buffer);
    const double share = share_of(memory, all[i].category);
    if (share == 1 || all[i].bytes <= 0) continue;
    tensors.resize(i, static_cast<double>(all[i].bytes) * share);
  }
  if (!(memory.buffer_bytes > 0) || buffers.empty()) return tensors.note();
  const std::string resized = tensors.note();  // without the buffers, which are told apart
  for (const auto& [device, buffer] : buffers) {
    tensors.add(buffer, memory.buffer_bytes, "buffers of collectives");
  }
  return resized + fmt::format("; buffers occupy {:.1f} MiB", memory.buffer_bytes / 0x1p20);
}

std::size_t scale_updates(KernelEditor& editor, double share) {
  std::size_t kernels = 0;
  for (const TaskId kernel : editor.kernels()) {
    if (editor.graph().phase(kernel) != Phase::update) continue;
    ++kernels;
    if (share == 1) continue;
    editor.set(kernel,
               moved_share(editor.graph().duration_ns(kernel), editor.class_of(kernel), share));
  }
  return kernels;
}

}  // namespace foretrace::editing
