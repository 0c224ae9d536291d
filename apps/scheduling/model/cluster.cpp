#include "apps/scheduling/model/cluster.h"

namespace foretrace::scheduling {

std::int32_t Cluster::gpus_of(KindId kind) const {
  std::int32_t sum = 0;
  for (const Node& node : nodes.values()) {
    if (node.kind == kind) sum += node.gpus;
  }
  return sum;
}

std::int32_t Cluster::gpus() const {
  std::int32_t sum = 0;
  for (const Node& node : nodes.values()) sum += node.gpus;
  return sum;
}

}  // namespace foretrace::scheduling
