#include "models/jobs/workloads/operator.h"

#include <algorithm>
#include <array>

namespace foretrace {

std::string_view to_string(Axis axis) {
  constexpr std::array<std::string_view, axis_count> names = {"tensor", "context",  "expert",
                                                              "data",   "pipeline", "embedding"};
  return names[static_cast<std::size_t>(axis)];
}

double AttentionPart::keys_seen() const {
  // Query i of the last `queries` positions sees keys - queries + i + 1 of them: the average of a
  // full square is half of it, taken so by everyone (the diagonal is left out).
  const double all = causal ? keys - queries / 2 : keys;
  return window > 0 ? std::min(all, window) : all;
}

double weights_of(const Block& block) {
  double sum = 0;
  for (const Operator& op : block.operators) sum += op.weights;
  return sum;
}

double weights_of(const Workload& workload) {
  double sum = 0;
  for (const BlockRun& run : workload.order) {
    const Block& block = workload.blocks[run.block];
    if (workload.ties_embeddings && block.role == BlockRole::head) {
      // Only what is not the shared table.
      for (const Operator& op : block.operators) {
        if (op.type != OperatorType::product) sum += op.weights;
      }
      continue;
    }
    sum += run.count * weights_of(block);
  }
  return sum;
}

}  // namespace foretrace
