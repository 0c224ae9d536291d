#include "apps/scheduling/placements/host_left.h"

namespace foretrace::scheduling {

double share_left(const NodeFree& free, const Node& whole_node, const Request& request) {
  double sum = 0;
  int counted = 0;
  const auto add = [&](std::int64_t left, std::int64_t all) {
    if (all <= 0) return;
    sum += static_cast<double>(left) / static_cast<double>(all);
    ++counted;
  };
  add(free.cpu_milli - request.cpu_milli, whole_node.cpu_milli);
  add(free.memory_mib - request.memory_mib, whole_node.memory_mib);
  add(free.free_milli() - std::int64_t{request.gpus} * request.milli,
      std::int64_t{whole_node.gpus} * whole);
  return counted == 0 ? 0 : sum / counted;
}

}  // namespace foretrace::scheduling
